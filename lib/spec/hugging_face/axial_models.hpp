#pragma once

#include <string_view>
#include <vector>

#include "lib/spec/hugging_face/part.hpp"

// Private to lib/spec: towers of vision models, whose patches turn by their row and column.

namespace sextant::hugging_face {

/// The claims of a model_type's tower: its rotation, of which axis 0 is the row and axis 1 the column, and the table
/// that is added before where there is one. @throws SpecError as claims_of_hf_config.
/// Domain: a model_type that has one; std::logic_error for another.
std::vector<ConfigClaim> axial_claims(const Part& part);

}  // namespace sextant::hugging_face
