#pragma once

#include <optional>

#include "lib/spec/spec.hpp"
#include "properties/verdict/diagnosis.hpp"
#include "subjects/subject.hpp"

namespace sextant::identify {

/// What of a subject's answers keeps anything else from being told by them: "values are NaN: ...", "every value is 1",
/// "answers to the same question differ, by up to 0.003", "answers depend on the calls before, or on the session".
/// Nothing where none is seen in a few ordinary calls, or one fails. @throws Interrupted.
std::optional<DiagnosedDifference> unusable_answers(const Subject& subject, const Spec& claim);

/// "answers depend on the calls before, or on the session", where one of several calls that a cache under a poor key
/// takes for each other is answered otherwise in a session of its own; nothing where none is, or one fails. @throws
/// Interrupted.
std::optional<DiagnosedDifference> dependent_answers(const Subject& subject, const Spec& claim);

}  // namespace sextant::identify
