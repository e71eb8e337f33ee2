#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "lib/kernels/line_writer.hpp"
#include "lib/kernels/parallel.hpp"
#include "lib/kernels/powers.hpp"
#include "lib/numeric/heads.hpp"
#include "lib/numeric/rounding.hpp"
#include "lib/rope/plan.hpp"
#include "lib/rope/settle.hpp"
#include "lib/spec/rope.hpp"

namespace sextant {

// What one call asks of the kernels: what the pairs turn by (RowSource), where they lie (HeadMemory, ChannelPlaces). A
// job is complete once it is constructed.

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

/// Factors of their own for the pairs: 2^(g_i (p - origin)), p the position that a pair turns by, negated where the
/// direction is clockwise. For rates whose fastest() is at most largest_pair_rate, and |p| + |origin| of at most 2^53 -
/// 16.
struct PairPowers {
  const PowerRates* rates;
  std::int64_t origin;
  /// Nearest values of the job's dtype for a pair that the kernels leave open, at p as above.
  std::function<SettledPair(std::int64_t pair, std::int64_t position, double first, double second)> settle;
};
inline constexpr double largest_pair_rate = 4;

/// What the pairs of a call turn by: references to what outlives the call.
struct PairTurns {
  /// All pairs of a token by its one position.
  explicit PairTurns(const RopePlan& plan);
  /// Each by the position of its axis.
  PairTurns(const RopePlan& plan, const PairAxes& axes);
  /// By one position, and each multiplied by its own power, which the steps have in them too.
  PairTurns(const FrequencyPieces& frequencies, const StepRotations& steps_with_powers, const PairPowers& powers);

  const FrequencyPieces* frequencies;
  const StepRotations* steps;
  AttentionFactor factor;
  const RopePlan* plan;      ///< null under powers, which settle pairs themselves
  const PairAxes* axes;      ///< null but under axes
  const PairPowers* powers;  ///< null but under powers
};

/// What the rows of a call, the rotations of each of its tokens, are made from.
struct RowSource {
  PairTurns turns;
  Direction direction;
  Rounding rounding;
  const std::int64_t* positions;  ///< [tokens], or [axes, tokens] of so many:
  std::int64_t tokens;
  std::int64_t heads_per_row;  ///< that are turned by one row at a time
};

/// One way through an encoding: the channels that pairs come from and go to, and the sense in which they turn.
struct RopePass {
  Pairing in;
  Pairing out;
  Direction direction;
};
RopePass forward_pass(const Rope& encoding);
/// The transpose.
RopePass backward_pass(const Rope& encoding);

/// Element (batch, token, head, 0) of a call lies at data + (batch * strides[0] + token * strides[1] + head *
/// strides[2]) elements.
using HeadStrides = std::array<std::int64_t, 3>;

/// A call's vectors, before and after; a head begins with the first channel that may turn.
struct HeadMemory {
  const std::byte* x;
  HeadStrides x_strides;
  std::byte* y;
  HeadStrides y_strides;
  Caching y_caching;  ///< streamed where every vector of a quick tier lies at a multiple of its size
  std::int64_t batch;
  std::int64_t tokens;  ///< of one sequence
  std::int64_t heads;
};

/// `count` channels that are copied, from `from` on in steps of `from_step`, to `to` on likewise, in elements within a
/// head.
struct Move {
  std::int64_t to = 0;
  std::int64_t to_step = 1;
  std::int64_t from = 0;
  std::int64_t from_step = 1;
  std::int64_t count = 0;
};

/// Where a head's channels lie before and after.
struct ChannelPlaces {
  Pairing in;
  Pairing out;
  std::int64_t half;          ///< under Pairing::half, elements from a pair's first channel to its second
  std::array<Move, 2> moves;  ///< what is not turned
  /// Where x is y and channels change places: the channels of a head that are set aside before it is written, else 0.
  std::int64_t set_aside;
};

/// Frequencies whose sin and cos are held at a time.
inline constexpr std::size_t rope_tile_pairs = 256;

/// What is done around each unit of a job, on the thread that has it.
class UnitHooks {
 public:
  virtual ~UnitHooks() = default;
  /// Before heads [first, last) of a token, counted over all sequences, are read.
  virtual void before(std::int64_t token, std::int64_t first, std::int64_t last) = 0;
  /// Once they are written.
  virtual void after(std::int64_t token, std::int64_t first, std::int64_t last) = 0;
};

/// A call that turns vectors. A unit of its work is one token and some of its heads; units are numbered token by token.
struct RopeJob {
  /// Turns the vectors of x into y, whose geometry is that of `encoding`. Precondition: x and y are floating, of one
  /// shape, head_dim wide, y is x or apart from it, and there is a position for each token (and axis). Under powers the
  /// rounding is certified. To be turned, y is of x's dtype, or of 16 bits where x is float32, all pairs turn by one
  /// position and the rounding is certified.
  RopeJob(const PairTurns& turns, const Rope& encoding, const RopePass& pass, Rounding rounding, const ConstHeads& x,
          std::span<const std::int64_t> positions, const Heads& y);

  std::int64_t units_per_token() const { return (memory.heads + rows.heads_per_row - 1) / rows.heads_per_row; }
  std::int64_t units() const { return memory.batch * memory.tokens * units_per_token(); }

  Dtype dtype;  ///< of x
  Dtype y_dtype;
  HeadMemory memory;
  ChannelPlaces channels;
  RowSource rows;
  UnitHooks* hooks = nullptr;
};

/// A call that writes the rounded a cos and a sin of each frequency at each position.
struct TableJob {
  /// Precondition: cos and sin are floating, of one dtype, apart, with a row for each position and a column for each
  /// frequency.
  TableJob(const PairTurns& turns, std::span<const std::int64_t> positions, const Rows& cos_rows, const Rows& sin_rows);

  RowSource rows;
  Rows cos;
  Rows sin;
};

/// Units [first, last) of the job, on the instruction set in use. Nothing is allocated unless more than 8 KiB are set
/// aside.
void rotate_units(const RopeJob& job, std::int64_t first, std::int64_t last);

/// Rows [first, last) of the tables.
void write_rotation_rows(const TableJob& job, std::int64_t first, std::int64_t last);

/// The number of threads that so many units with so many elements in all are worth.
int threads_worth(std::int64_t units, std::int64_t elements);

/// Calls work(first, last) on contiguous shares of [0, units), one a thread, on as many threads as the elements are
/// worth.
template <class Work>
void share(std::int64_t units, std::int64_t elements, Work work) {
  parallel_shares(units, threads_worth(units, elements), work);
}

}  // namespace sextant
