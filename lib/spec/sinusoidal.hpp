#pragma once

#include <cstdint>

#include "lib/spec/channels.hpp"
#include "lib/spec/entry.hpp"

namespace sextant {

/// Order of a sinusoidal code's channels: sin and cos of a frequency side by side, or all of one, then all of the
/// other.
enum class Layout { interleaved, concatenated };
/// Which of the two comes first.
enum class First { sin, cos };
/// The divisor of the frequency exponent: base^(-2i/dim), or base^(-i/(dim/2 - 1)) as tensor2tensor has it.
enum class Denominator { dim, half_minus_one };

/// Vaswani et al. 2017, section 3.5: with w_i = base^(-2i/dim) and i = 0 .. dim/2 - 1,
///   PE(p, 2i) = scale * sin(w_i (p + position_offset)),  PE(p, 2i+1) = scale * cos(w_i (p + position_offset)).
struct Sinusoidal {
  std::int64_t dim = 0;
  double base = 10000;
  Layout layout = Layout::interleaved;
  First first = First::sin;
  Denominator denominator = Denominator::dim;
  std::int64_t position_offset = 0;
  double scale = 1;

  static const EncodingEntry<Sinusoidal> entry;
};

/// Number of frequencies: dim/2.
std::int64_t pairs(const Sinusoidal& encoding);

/// The channels of sin (first) and cos (second) of frequency `pair`.
Channels channels_of_pair(const Sinusoidal& encoding, std::int64_t pair);

}  // namespace sextant
