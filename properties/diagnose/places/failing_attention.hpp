#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lib/spec/spec.hpp"
#include "properties/diagnose/clues.hpp"
#include "properties/identify/identification.hpp"
#include "properties/model/attention_case.hpp"

namespace sextant::identify {

/// The calls of attention that an audit found wrong and that are so by themselves: of whole calls, steps and padding,
/// the simplest and the worst. Of another encoding none.
std::vector<AttentionCase> failing_attention(const Spec& claim, const Clues& clues);

/// Whether an audit's steps or padding were wrong after other calls, and in none of those by themselves.
bool fails_after_other_calls(const Clues& clues);

/// What is said in place of a fault which says that one of these calls is right: of steps, or of padding, that some are
/// wrong, or nothing where that is not so either. Nothing of a fault that says no such thing.
struct Widened {
  bool is_refuted = false;
  std::string words = {};  ///< empty where nothing is told
};
Widened widened(const Fault& fault, const std::vector<AttentionCase>& failing);

}  // namespace sextant::identify
