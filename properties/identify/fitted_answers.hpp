#pragma once

#include <string>

#include "lib/spec/spec.hpp"
#include "subjects/subject.hpp"

namespace sextant::identify {

/// How the answers of a session compare with a claim that may not be the one it was opened under.
struct FittedAnswers {
  Spec spec;            ///< with the first accuracy class and evaluation that held, from the claim's own on
  bool hold = false;    ///< whether any did
  double of_bound = 0;  ///< the worst value against its bound there; else against the claim's own
};

/// Asks some of the questions of accuracy and judges every value of the answers, under the claim's class and
/// evaluation, else under laxer ones. @throws SubjectFailure, Interrupted.
FittedAnswers fitted_answers(Session& session, const Spec& spec);

/// The first recipe whose bits are those of an ordinary call's answer and of its answers at doubling positions; empty
/// where none is known. @throws likewise.
std::string recipe_of(Session& session, const Spec& spec);

}  // namespace sextant::identify
