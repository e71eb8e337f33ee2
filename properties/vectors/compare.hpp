#pragma once

#include <optional>
#include <string>

#include "properties/vectors/vector.hpp"

namespace sextant::vectors {

/// What the runner says of a reply, as subjects/python/sextant_vectors/run.py does: which tensor is missing, of another
/// dtype or shape, or which value is further from the vector's than it may be; nothing if none is.
std::optional<std::string> difference(const Test& test, const Tensors& reply);

/// Asks a test and compares: also whether the inputs are as they were. Nothing if all is as it must be.
/// @throws Interrupted; a subject that does not answer is a difference, one that has no such operation is
/// none.
std::optional<std::string> asked_difference(Session& session, const Test& test);

}  // namespace sextant::vectors
