#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "lib/kernels/frequency_pieces.hpp"
#include "lib/kernels/powers.hpp"
#include "lib/kernels/step_rotations.hpp"
#include "lib/numeric/rounding.hpp"
#include "lib/rope/frequencies.hpp"
#include "lib/rope/settle.hpp"
#include "lib/spec/rope.hpp"

namespace sextant {

/// Element (batch, token, head, 0) of a call lies at data + (batch * strides[0] + token * strides[1] + head *
/// strides[2]) elements.
using HeadStrides = std::array<std::int64_t, 3>;

/// `count` channels that are copied, from `from` on in steps of `from_step`, to `to` on likewise, in elements within a
/// head.
struct Move {
  std::int64_t to = 0;
  std::int64_t to_step = 1;
  std::int64_t from = 0;
  std::int64_t from_step = 1;
  std::int64_t count = 0;
};

/// Pairs [first, last), in whole groups of FrequencyPieces::lanes.
struct PairRange {
  std::size_t first;
  std::size_t last;
};

/// Coordinates of their own for the pairs: pair i of a token turns by the position of its axis, that of the one mask
/// which holds i.
struct PairAxes {
  std::int64_t count = 0;
  /// [count, frequencies padded]: all ones for the pairs of an axis, else 0; a padded pair is of the last pair's axis.
  std::vector<std::uint64_t> masks;
  /// The groups from an axis' first pair to its last.
  std::vector<PairRange> ranges;
};

/// Factors of their own for the pairs: 2^(g_i p), p the position that a pair turns by, negated where the direction is
/// clockwise. For rates whose fastest() is at most largest_pair_rate; job.steps has the powers of the steps in it, and
/// job.factor is 1.
struct PairPowers {
  const PowerRates* rates;
  /// Nearest values of job.dtype for a pair that the kernels leave open, at p as above.
  std::function<SettledPair(std::int64_t pair, std::int64_t position, double first, double second)> settle;
};
inline constexpr double largest_pair_rate = 4;

/// Everything that one call asks of the kernels; plain data, checked by whoever fills it.
struct RopeJob {
  const Rope* encoding;
  const FrequencyPieces* frequencies;
  const StepRotations* steps;
  const AttentionFactor* factor;
  std::int64_t length;
  Dtype dtype;
  Rounding rounding;
  Direction direction;

  /// Positions of the tokens, [batch, tokens] row-major.
  const std::int64_t* positions;
  std::int64_t tokens;
  std::int64_t heads;
  /// A unit of work is one token and this many of its heads; units are numbered token by token. Where x is y, the
  /// pairing moves channels and there is more than one tile of frequencies (rope_tile_pairs), it must be 1.
  std::int64_t heads_per_unit;

  const std::byte* x;
  HeadStrides x_strides;
  std::byte* y;
  HeadStrides y_strides;

  Pairing pairing;
  Pairing output_pairing;
  /// Under Pairing::half, elements from a pair's first channel to its second.
  std::int64_t half;
  std::array<Move, 2> moves;

  /// Where x is y and channels change places: the channels of a head that must be set aside before it is written, else
  /// 0.
  std::int64_t set_aside;

  /// Null where all pairs of a token turn by one position; else positions are [axes, batch, tokens], `axis_stride` from
  /// one axis to the next.
  const PairAxes* axes = nullptr;
  std::int64_t axis_stride = 0;
  /// Null where all pairs have the one factor; never with `axes`. Then the rounding is certified.
  const PairPowers* powers = nullptr;
};

/// Frequencies whose sin and cos are held at a time.
inline constexpr std::size_t rope_tile_pairs = 256;

/// Units [first, last) of the job, on the instruction set in use. Nothing is allocated unless set_aside exceeds 8 KiB.
void rotate_units(const RopeJob& job, std::int64_t first, std::int64_t last);

/// The rounded a cos and a sin of the job's frequencies at positions[first .. last), as rows of `job.y` and `sin` of
/// y_strides[1] and `sin_stride` elements: x, heads and pairings are not used.
void write_rotation_rows(const RopeJob& job, std::byte* sin, std::int64_t sin_stride, std::int64_t first,
                         std::int64_t last);

}  // namespace sextant
