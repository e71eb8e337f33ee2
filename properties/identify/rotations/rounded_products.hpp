#pragma once

#include <string>

#include "lib/spec/spec.hpp"
#include "properties/identify/identification.hpp"
#include "properties/verdict/diagnosis.hpp"
#include "subjects/subject.hpp"

namespace sextant::identify {

/// Which steps of a rotation of 16 bits are rounded, as the bits of its answers show.
struct RoundedProducts {
  /// Whether they are those that the spec's evaluation rounds, all of them and at every position.
  bool are_of_evaluation = false;
  /// "sines are rounded to float16 before they are used, and cosines are not"; a guess where the bits fit no choice.
  std::string words;
  DiagnosedStage stage = DiagnosedStage::table;
};

/// Of a spec of AskedTurns that the answers meet, and whose evaluation rounds the table, or the result of each
/// operation. A vector of one channel shows each cosine and each sine by itself, since its product has no rounding but
/// the result's; one of two channels then shows which of the four products are rounded before they are added.
///
/// @throws SubjectFailure, Interrupted.
RoundedProducts rounded_products(Session& session, const Spec& spec);

/// Adds those words to what was found, of which the answers meet a spec that differs from the claim in its evaluation;
/// whether there are any. @throws likewise.
bool told_rounded_steps(Session& session, const Spec& claim, Identification& found);

}  // namespace sextant::identify
