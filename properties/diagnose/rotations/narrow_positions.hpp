#pragma once

#include <optional>

#include "lib/spec/spec.hpp"
#include "properties/verdict/diagnosis.hpp"
#include "subjects/subject.hpp"

namespace sextant::identify {

/// The format of 32 bits that positions of a claim which reaches beyond it are kept in: rounded or cut to float32,
/// wrapped or limited as whole numbers of 32 bits, where every other value is as near to the true one as is claimed.
/// Nothing of several axes and of what is no code, no table and no rotation. @throws SubjectFailure, Interrupted.
std::optional<DiagnosedDifference> narrow_positions(const Subject& subject, const Spec& claim);

}  // namespace sextant::identify
