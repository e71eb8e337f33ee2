#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lib/kernels/frequency_pieces.hpp"
#include "lib/kernels/rotation_error.hpp"

namespace sextant {

/// sin and cos of an angle of each frequency as double-doubles, with padding for whole vectors.
struct PreciseRotations {
  std::vector<double> sin_high;
  std::vector<double> sin_low;
  std::vector<double> cos_high;
  std::vector<double> cos_low;

  explicit PreciseRotations(std::size_t padded)
      : sin_high(padded), sin_low(padded), cos_high(padded), cos_low(padded) {}
};

/// Those of frequency * count, each component within precise_rotation_error of the real number. |count| <= 2^54; as
/// many entries as `frequencies` has with its padding. target_in_use (targets.hpp) has been asked before.
void rotations_at(const FrequencyPieces& frequencies, std::int64_t count, PreciseRotations& rotations);

/// Turns each by the other's angle as well.
void turn_further(PreciseRotations& rotations, const PreciseRotations& by);

/// sin and cos of one angle as double-doubles.
struct PreciseSinCos {
  double sin_high;
  double sin_low;
  double cos_high;
  double cos_low;
};

/// That of a band's angles on all of the axes, added: as many counts as axes. Errors as above.
PreciseSinCos rotation_of_band(std::span<const FrequencyPieces> axes, std::size_t band,
                               std::span<const std::int64_t> counts);

/// The error of a component of up to four rotations turned further by each other. Each is within sqrt(2) 2^-99 of its
/// own in the Euclidean norm, of moduli that differ from 1 by as little, and each of three products adds 29 u^2 <
/// 2^-101 (rotations-inl.h): 4 sqrt(2) 2^-99 + 3 2^-101, and products of these, which together are less than 2^-96.
inline constexpr double turned_rotation_error = 8 * precise_rotation_error;

}  // namespace sextant
