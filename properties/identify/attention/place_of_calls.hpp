#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "lib/spec/spec.hpp"
#include "properties/identify/attention/attention_calls.hpp"
#include "properties/model/attention_case.hpp"
#include "subjects/subject.hpp"

namespace sextant::identify {

/// In which calls answers are wrong.
struct PlaceOfCalls {
  std::string words = {};  ///< empty where nothing is told
  /// Whether they say of such a call that it is right; empty where that is of more than the call's extents.
  std::function<bool(const AttentionCase& call)> says_right = {};
};

/// What is said of steps of which some are wrong, by no number of keys or queries.
inline constexpr std::string_view wrong_in_some_steps = "values are wrong in some steps, and right in whole calls";

/// What is said of calls that are the first whose answers are wrong, where nothing explains them.
PlaceOfCalls place_of_calls(Session& session, const Spec& claim, AskedAs call);

}  // namespace sextant::identify
