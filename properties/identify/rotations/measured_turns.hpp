#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lib/numeric/dtype.hpp"
#include "properties/identify/round_numbers.hpp"
#include "properties/model/encoded_pairs.hpp"

namespace sextant::identify {

/// How far the values of rows are off in proportion, as their norms show, at least 4 unit roundoffs of the dtype; and
/// the norm.
struct Norm {
  double size = 1;
  double noise = 0;
  Range range;       ///< of the size
  double least = 0;  ///< what values are off by however small they are: float16's least numbers
};
Norm norm_of(const Rows& rows, Dtype dtype);

/// What the phases of one pair tell of its frequency.
struct MeasuredTurn {
  double radians = 0;      ///< per position (of real ones, per step), with its sign
  double uncertainty = 0;  ///< it is so near to the subject's own
  /// The first position at which phases are no longer multiples of it; nothing where they are at all that was asked.
  std::optional<std::int64_t> departs;
};

/// 0, 1, 2, 4, ... 2^k below `end`: an angle at a power of two is exact in every format that positions and frequencies
/// may be cast to, so that phases there tell the frequency that is used, to the last bit that outputs show.
std::vector<std::int64_t> doubling_positions(std::int64_t end);

/// How many fractional positions follow position 0 that have its own values, of steps that are a fraction of 1; 0 where
/// one of them has others, or too few whole ones would be left to measure.
std::size_t fractions_like_0(const std::vector<std::int64_t>& positions, const Rows& rows, double step);

/// Rows turned back by what the first is turned by, so that it is turned by nothing.
Rows from_first(const Rows& rows);

/// Frequencies from the phases at doubling positions, which need not be 0 at position 0: a phase at 2^k is known within
/// e, so that the frequency is within e 2^-k, once shorter steps have told the whole turns. e is the noise times the
/// phase, at most a radian; the noise alone, twice, where position 0 is turned itself, since small phases are then
/// differences of large ones.
std::vector<MeasuredTurn> measured_turns(const std::vector<std::int64_t>& positions, const Rows& rows,
                                         const Norm& norm);

/// The position, no whole one perhaps, at which pairs of these frequencies would have a row's phases: the slowest tells
/// it coarsely, within half a turn, and each faster one more finely. Nothing where there is none.
std::optional<double> place_of_phases(const std::vector<PairValues>& row, const std::vector<double>& frequencies,
                                      double noise);

/// Whether a row has a phase that noise does not explain.
bool is_turned(const std::vector<PairValues>& row, const Norm& norm);

}  // namespace sextant::identify
