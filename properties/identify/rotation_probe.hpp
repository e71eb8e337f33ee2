#pragma once

#include <cstdint>
#include <vector>

#include "lib/spec/channels.hpp"
#include "lib/spec/rope.hpp"
#include "properties/identify/round_numbers.hpp"
#include "properties/model/encoded_pairs.hpp"
#include "subjects/subject.hpp"

namespace sextant::identify {

/// Two channels that a rotation mixes, in ascending order, where they are read and where they are written.
struct TurnedPair {
  Channels input;
  Channels output;
};

/// What a rotation does with each channel, from its answers to unit vectors at a few positions. Nothing of the spec is
/// taken for granted but the shape.
struct RotationStructure {
  std::vector<TurnedPair> pairs;      ///< by their first input channel
  std::vector<Passthrough> kept;      ///< channels that come out alone, by their input
  std::vector<std::int64_t> lost;     ///< input channels that come out as 0 at every position
  std::vector<std::int64_t> tangled;  ///< input channels that reach more than two outputs, or other ones than a partner
  double kept_factor = 1;             ///< what the kept channels are multiplied by, where that is one number
};
RotationStructure structure_of(Session& session, const Spec& spec, const Rope& shape);

/// What the pairs of a structure are turned to in one call: (1, 0) and, in `second`, (0, 1) turned back by a quarter.
/// Of a rotation times a factor both are factor * (cos, sin).
struct TurnedRows {
  std::vector<std::int64_t> positions;
  Rows first;
  Rows second;
};
TurnedRows turned_rows(Session& session, const Spec& spec, const Rope& shape, const std::vector<TurnedPair>& pairs,
                       const std::vector<std::int64_t>& positions);

/// How far the values of rows are off in proportion, as their norms show, at least 4 unit roundoffs of the dtype; and
/// the norm.
struct Norm {
  double size = 1;
  double noise = 0;
  Range range;  ///< of the size
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

/// Frequencies from the phases at doubling positions: a phase at 2^k is known within e, so that the frequency is within
/// e 2^-k, once shorter steps have told the whole turns. e is the noise times the phase, at most a radian.
std::vector<MeasuredTurn> measured_turns(const std::vector<std::int64_t>& positions, const Rows& rows,
                                         const Norm& norm);

}  // namespace sextant::identify
