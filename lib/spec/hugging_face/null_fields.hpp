#pragma once

#include "lib/spec/hugging_face/part.hpp"

// Private to lib/spec.

namespace sextant::hugging_face {

/// Refuses a null that the model_type's class refuses, or with which its model fails, whether a claim reads the field
/// or not: transformers makes nothing of such a file. @throws SpecError naming the first such field.
void refuse_null_fields(const Part& part);

}  // namespace sextant::hugging_face
