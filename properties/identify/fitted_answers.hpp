#pragma once

#include <optional>
#include <string>

#include <string>

#include "lib/spec/spec.hpp"
#include "subjects/subject.hpp"

namespace sextant::identify {

/// How the answers of a session compare with a claim that may not be the one it was opened under.
struct FittedAnswers {
  Spec spec;            ///< with the first accuracy class and evaluation that held, from the claim's own on
  bool hold = false;    ///< whether any did
  double of_bound = 0;  ///< the worst value against its bound there; else against the claim's own
  /// Where none held, how far off and where: "answers at positions 1000 to 1003 are up to 12 times as far off as ...".
  std::string where;
};

/// Asks some of the questions of accuracy and judges every value of the answers, under the claim's class and
/// evaluation, else under laxer ones: of frequencies or angles of a 16-bit format, under that format's, since a
/// stricter bound that a few values happen to meet is no claim. @throws SubjectFailure, Interrupted.
FittedAnswers fitted_answers(Session& session, const Spec& spec, std::optional<Dtype> narrow = std::nullopt);

/// The first recipe whose bits are those of an ordinary call's answer and of its answers at doubling positions; empty
/// where none is known. @throws likewise.
std::string recipe_of(Session& session, const Spec& spec);

}  // namespace sextant::identify
