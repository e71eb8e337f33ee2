#pragma once

#include <cstdint>
#include <optional>

#include "lib/spec/channels.hpp"
#include "lib/spec/entry.hpp"
#include "lib/spec/position_grid.hpp"

namespace sextant {

/// Order of a sinusoidal code's channels: sin and cos of a frequency side by side, or all of one, then all of the
/// other.
enum class Layout { interleaved, concatenated };
/// Which of the two comes first.
enum class First { sin, cos };

/// Vaswani et al. 2017, section 3.5: with w_i = base^(-i/(h - s)), h = dim/2 rounded down, s = downscale_freq_shift and
/// i = 0 .. h - 1,
///   PE(p, 2i) = scale * sin(a w_i (p + position_offset)),  PE(p, 2i+1) = scale * cos(a w_i (p + position_offset)),
/// a = angle_scale. The paper's exponent is that of shift 0, tensor2tensor's of shift 1. Timestep embeddings of
/// diffusion models (Ho et al. 2020, arXiv 2006.11239, appendix B, and its code) are such codes, in the concatenated
/// layout; where their dim is odd, the last channel is 0.
struct Sinusoidal {
  std::int64_t dim = 0;
  double base = 10000;
  Layout layout = Layout::interleaved;
  First first = First::sin;
  std::int64_t downscale_freq_shift = 0;
  std::int64_t position_offset = 0;
  double scale = 1;        ///< of values
  double angle_scale = 1;  ///< of angles
  PositionGrid positions = {};

  static const EncodingEntry<Sinusoidal> entry;
};

/// Number of frequencies: dim/2, rounded down.
std::int64_t pairs(const Sinusoidal& encoding);

/// The channels of sin (first) and cos (second) of frequency `pair`.
Channels channels_of_pair(const Sinusoidal& encoding, std::int64_t pair);

/// The channel that belongs to no frequency and is 0: the last one of an odd dim.
std::optional<std::int64_t> padding_channel(const Sinusoidal& encoding);

/// What frequencies in radians per position are multiplied by to be those of a step of the positions:
/// angle_scale * step, exactly.
double angles_per_step(const Sinusoidal& encoding);

}  // namespace sextant
