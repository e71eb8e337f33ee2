#pragma once

#include "lib/spec/hugging_face/part.hpp"

// Private to lib/spec.

namespace sextant::hugging_face {

/// @throws SpecError for a field of another type than transformers' configuration classes take, whether or not a claim
/// depends on it: a size that is no integer of JSON, or a switch that is neither true nor false. A null is
/// null_fields.hpp's.
void refuse_other_types(const Part& part);

}  // namespace sextant::hugging_face
