#pragma once

#include <vector>

#include "lib/spec/spec.hpp"
#include "properties/verdict/diagnosis.hpp"

namespace sextant::identify {

/// How a spec that was found differs from the claimed one of the same encoding, in words; accuracy class aside.
std::vector<DiagnosedDifference> differences(const Spec& claimed, const Spec& found);

}  // namespace sextant::identify
