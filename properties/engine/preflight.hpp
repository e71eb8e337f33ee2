#pragma once

#include <optional>
#include <string>

#include "lib/spec/spec.hpp"
#include "properties/verdict/verdict.hpp"
#include "subjects/subject.hpp"

namespace sextant {

/// Why there is no use in judging a subject property by property.
struct PreflightFailure {
  Verdict verdict = Verdict::crashed;  ///< or timed_out
  std::string reason;                  ///< one line
  FailureTrace trace;
};

/// What a subject says of itself, and whether it can be audited.
struct Preflight {
  Description description;
  std::optional<PreflightFailure> failure;
};

/// How far a preflight goes.
enum class FirstAsked { description, calls };

/// Asks a subject to describe itself, then, unless the description is all, a call of two tokens and three heads, where
/// the claim has them; where that fails the simplest one of the claim, and one of several tokens, rows and heads. It
/// fails if it cannot describe itself, in all of these calls, or by a result of a shape or dtype that one change mends.
/// What fails in some calls only is else for the properties to judge, and what is unsupported is no failure.
/// @throws SubjectNameError if it cannot be started at all, Interrupted.
Preflight preflight(const Subject& subject, const Spec& spec, FirstAsked asked);

}  // namespace sextant
