#pragma once

#include <string>

#include "lib/spec/spec.hpp"
#include "subjects/subject.hpp"

namespace sextant::identify {

/// What a backward pass of attention computes in place of the gradients by queries, keys and values; empty where
/// nothing explains all gradients asked. @throws SubjectFailure, Interrupted.
std::string words_of_attention_gradient(const Subject& subject, const Spec& claim);

}  // namespace sextant::identify
