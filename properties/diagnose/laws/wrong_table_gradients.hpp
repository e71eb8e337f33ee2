#pragma once

#include <string>

#include "lib/spec/spec.hpp"
#include "subjects/subject.hpp"

namespace sextant::identify {

/// What the gradient by a lookup's weight is, or by a bias's, in place of the sum over the uses of each row; empty
/// where nothing explains all gradients asked. @throws SubjectFailure, Interrupted.
std::string words_of_table_gradient(const Subject& subject, const Spec& claim);

}  // namespace sextant::identify
