#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "properties/identify/identification.hpp"
#include "properties/identify/rotations/rotation_probe.hpp"

namespace sextant::identify {

/// The fields of a rope that say where its pairs are, and which pair of a structure each of its frequencies turns.
struct RotationLayout {
  Rope rope;                       ///< of the claim, with pairing, output_pairing, rotary_layout and rotary_dim as seen
  std::vector<std::size_t> order;  ///< frequency i turns pair order[i] of the structure
  std::vector<Fault> faults;       ///< what no field says of the channels that are not turned
};

/// The layouts that a structure has, the claim's own first, then the simplest: of a prefix of interleaved pairs and of
/// interleaved pairs spread over the head the channels are the same, and frequencies tell them apart. None where no
/// spec says it. A structure without pairs is rope_type none.
std::vector<RotationLayout> layouts_of(const RotationStructure& structure, const Rope& claim);

/// "channels 0 and 32, 1 and 33, 2 and 34, ...": the pairs, for a person.
std::string pairs_text(const RotationStructure& structure);

}  // namespace sextant::identify
