#pragma once

#include <string>
#include <vector>

#include "properties/vectors/chosen.hpp"
#include "properties/vectors/vector.hpp"
#include "subjects/subject.hpp"

namespace sextant::vectors {

/// The tests of a claim, with wrong answers to the first one that has any, and what a weaker class allows.
/// @param proposer  any implementation: the oracle checks what it answers (maker.hpp)
/// @throws what Maker::made throws.
Group made_group(const ChosenClaim& claim, const Subject& proposer);

/// The encodings that have vectors, in the order of their files.
std::vector<std::string> encodings_with_vectors(const std::vector<ChosenClaim>& claims);

}  // namespace sextant::vectors
