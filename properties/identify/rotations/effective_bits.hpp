#pragma once

#include <string>
#include <vector>

#include "lib/spec/spec.hpp"
#include "subjects/subject.hpp"

namespace sextant::identify {

/// How many bits of what a session computes with are right under a claim: "frequency 8.2 bits", "angle at least 24.6
/// bits", of positions, frequencies, angles and the table's entries; -log2 of the worst relative error. "At least"
/// where the answers show none: in the pair and at the position that would show the least. Empty for encodings that are
/// no one list of pairs, and where position 0 is not claimed. @throws SubjectFailure, Interrupted.
std::vector<std::string> effective_bits(Session& session, const Spec& spec);

}  // namespace sextant::identify
