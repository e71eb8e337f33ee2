#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "properties/identify/rotations/measured_turns.hpp"
#include "properties/identify/rotations/rotation_probe.hpp"

namespace sextant::identify {

/// Whether rows of (1, 0) that were turned have one length only once the vector is taken from them: y = x + R(x).
bool adds_the_vector(const Rows& rows, Dtype dtype);

/// Whether a head comes out the same once doubled and once halved.
bool are_normalized(Session& session, const Spec& spec, const Rope& shape);

/// Whether phases are those of these frequencies without their signs, as where sines are roots of 1 - cos^2. `noise` is
/// what phases are off by.
bool have_no_signs(const std::vector<std::int64_t>& positions, const Rows& rows, const std::vector<double>& frequencies,
                   double noise);

/// "vectors are rounded to float16 before they are turned"; empty where position 0 leaves vectors as they are, or
/// results are rounded wherever they are turned to. `size` is how long pairs are made.
std::string words_of_rounded_vectors(Session& session, const Spec& spec, const Rope& shape,
                                     const std::vector<TurnedPair>& pairs, double size);

/// The position that 0 is turned as: a whole number that explains each pair's phase, or nothing. Turns have their
/// signs.
std::optional<std::int64_t> place_of_0(const std::vector<PairValues>& row, const std::vector<MeasuredTurn>& turns,
                                       double noise);

}  // namespace sextant::identify
