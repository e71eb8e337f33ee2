#pragma once

#include <optional>

#include "lib/spec/spec.hpp"
#include "properties/verdict/diagnosis.hpp"
#include "subjects/subject.hpp"

namespace sextant::identify {

/// Which calls a subject answers with an error, where a smallest one is answered: "positions from 4096 on end in an
/// error: position out of range", "are refused" where it says that they are unsupported; tokens, batch rows or heads
/// from a number on likewise. The border is searched in halves, and told where calls on both sides of it, near and far,
/// agree. Nothing where that is not so. @throws Interrupted.
std::optional<DiagnosedDifference> refused_calls(const Subject& subject, const Spec& claim);

}  // namespace sextant::identify
