#pragma once

#include "properties/engine/property.hpp"

namespace sextant {

// The accuracy property's checks, each over the cases that its own file or question_cases.hpp draws.

/// integer, binary, learned, sinusoidal_2d: accuracy_codes.cpp.
Check code_accuracy(const Spec& spec);
/// alibi, relative_bias: accuracy_biases.cpp.
Check bias_accuracy(const Spec& spec);
/// rope_nd, xpos: accuracy_rotations.cpp.
Check rotation_accuracy(const Spec& spec);
/// attention: accuracy_attention.cpp.
Check attention_accuracy(const Spec& spec);

/// Why accuracy says nothing of an encoding; nothing if it does.
std::optional<std::string> accuracy_not_stated(const Spec& spec);

}  // namespace sextant
