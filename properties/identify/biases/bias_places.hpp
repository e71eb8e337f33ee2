#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "lib/spec/spec.hpp"
#include "properties/identify/identification.hpp"
#include "subjects/subject.hpp"

namespace sextant::identify {

/// What one call showed to be wrong, in words for where nothing else is told; and the buckets of its distances, if it
/// showed them: its words are told where those explain all other calls too.
struct OddBuckets {
  std::string words;
  std::function<std::optional<std::int64_t>(std::int64_t relative)> bucket = {};  ///< nothing beyond what was asked
};

/// Where nothing else is told of a bias: tells what wrong biases are and where they are, if that explains every cell of
/// calls of many shapes: "biases of keys from number 64 on are 0, and the rest is right". A claim that was found, and
/// is another one, stays where it explains every such cell, and is what biases are in some calls where it does not. Of
/// ALiBi, relative biases and windows. @throws SubjectFailure, Interrupted.
void take_wrong_places(Session& session, const Spec& claim, Identification& found, const OddBuckets& odd = {});

}  // namespace sextant::identify
