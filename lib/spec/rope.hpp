#pragma once

#include <cstdint>
#include <vector>

#include "lib/spec/channels.hpp"
#include "lib/spec/entry.hpp"
#include "lib/spec/position_grid.hpp"
#include "lib/spec/rope_scaling.hpp"

namespace sextant {

/// Which channels one frequency turns, of the rotary_dim or (spread) head_dim channels at hand: (2i, 2i+1) as in GPT-J,
/// or (i, i + half of them) as in GPT-NeoX.
enum class Pairing { interleaved, half };
/// Where the rotated pairs lie under partial rotary: in the first rotary_dim channels; as the first rotary_dim/2 of the
/// full head's pairs, the others standing still (frequency 0); or in the last rotary_dim channels (multi-head latent
/// attention, DeepSeek-V2, arXiv 2405.04434, section 2.1.3: a head is [nope | rope]).
enum class RotaryLayout { prefix, spread, suffix };
/// (x0, x1) -> (x0 cos - x1 sin, x0 sin + x1 cos), or its transpose.
enum class Direction { counterclockwise, clockwise };

/// Su et al. 2021 (RoFormer), section 3.2.2, equation 15: pair i of the vector at position p turns by the angle p w_i,
/// w_i = rope_theta^(-2i/n), n = head_dim for the spread layout and rotary_dim for the others, changed as rope_scaling
/// says.
struct Rope {
  std::int64_t head_dim = 0;
  std::int64_t rotary_dim = 0;
  double rope_theta = 10000;
  Pairing pairing = Pairing::half;
  Pairing output_pairing = Pairing::half;
  RotaryLayout rotary_layout = RotaryLayout::prefix;
  Direction direction = Direction::counterclockwise;
  RopeScaling rope_scaling;
  /// Angles are those of a step, step * w_i, times counts of them.
  PositionGrid positions = {};
  /// Under half pairing, of how many equal parts of the rotated channels each is paired within itself. No field of a
  /// rope: 1, but for axes that are (rope_nd).
  std::int64_t parts = 1;

  static const EncodingEntry<Rope> entry;
};

/// Number of frequencies that turn anything: rotary_dim/2; 0 under rope_type none.
std::int64_t pairs(const Rope& encoding);

/// n: the width that exponents divide by, and over which channels are paired.
std::int64_t rotary_width(const Rope& encoding);

/// The first of the channels that are paired: head_dim - rotary_dim for the suffix layout, 0 for the others.
std::int64_t first_rotary_channel(const Rope& encoding);

/// The channels of frequency `pair` under a pairing (pass encoding.pairing for the input, output_pairing for the
/// output).
Channels channels_of_pair(const Rope& encoding, Pairing pairing, std::int64_t pair);

/// For each output channel that no frequency turns, the input channel whose value it carries unchanged.
struct Passthrough {
  std::int64_t output;
  std::int64_t input;
};
std::vector<Passthrough> passthrough_channels(const Rope& encoding);

/// The frequencies of a rotary encoding, of which nothing else matters; times 2 pi / extent where that is not 0.
struct Ladder {
  Rope rope;
  std::int64_t extent = 0;
  double stretch = 1;  ///< of normalized coordinates, what their angles are multiplied by
};

/// Where the frequencies of a head's pairs come from: pair i has frequency places[i].index of
/// ladders[places[i].ladder]. All have one rule, so that they have one attention factor.
struct Ladders {
  struct Place {
    std::int64_t ladder;
    std::int64_t index;
  };
  std::vector<Ladder> ladders;
  std::vector<Place> places;
};

/// The encoding itself, with its pairs in their order.
Ladders ladders_of(const Rope& encoding);

}  // namespace sextant
