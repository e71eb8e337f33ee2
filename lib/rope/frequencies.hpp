#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lib/kernels/turns.hpp"
#include "lib/spec/rope.hpp"

namespace sextant {

// What a scaling rule makes of a rotary encoding's frequencies and magnitude. The rules are those that
// lib/spec/rope_scaling.hpp names, with their papers; each formula is beside its code in wide_frequencies.hpp.

/// The frequency of each pair of a ladder in a call of `length` = its largest position + 1, in turns per position
/// modulo one turn: `length` matters to dynamic and longrope only. Each is within 2^-192 turn of the real number: the
/// working precision leaves an error below 2^-200 turn before the one rounding to a multiple of 2^-192, which adds half
/// of that.
/// Domain: an encoding that passes validate.
/// @throws std::domain_error if 5000 bits do not do, as where an end of YaRN's ramp lies nearer to a whole number than
/// that tells, which no real number here does (reference/rope_scaling.hpp, "Ties").
std::vector<Turns> rope_turns(const Ladder& ladder, std::int64_t length);

/// numerator / denominator, both exact doubles.
struct Ratio {
  double numerator;
  double denominator;
};

/// What the rotated pair is multiplied by: |high + low - a| <= 2^-105 a, |low| <= 2^-53 high. `rational` is a itself
/// where a is known to be a rational number, so that ties of a * x can be told.
struct AttentionFactor {
  double high;
  double low;
  std::optional<Ratio> rational;
};

/// In a call of `length` = its largest position + 1, which matters to longrope's two magnitudes alone. Domain: an
/// encoding that passes validate.
AttentionFactor attention_factor(const Rope& encoding, std::int64_t length = 1);

}  // namespace sextant
