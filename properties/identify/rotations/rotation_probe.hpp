#pragma once

#include <cstdint>
#include <vector>

#include "lib/spec/channels.hpp"
#include "lib/spec/rope.hpp"
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

/// What the pairs of a structure are turned to: (1, 0) and, in `second`, a second call's (0, 1) less a quarter turn.
/// Of a rotation times a factor both are factor * (cos, sin).
struct TurnedRows {
  std::vector<std::int64_t> positions;
  Rows first;
  Rows second;
};
TurnedRows turned_rows(Session& session, const Spec& spec, const Rope& shape, const std::vector<TurnedPair>& pairs,
                       const std::vector<std::int64_t>& positions);

/// How many batch rows and heads a call has.
struct AskedShape {
  std::int64_t batches = 1;
  std::int64_t heads = 1;
};

/// What (1, 0) is turned to in every pair of each vector, [batch * tokens * heads][pairs]; positions are [batch,
/// tokens].
Rows turned_vectors(Session& session, const Spec& spec, const Rope& shape, const std::vector<TurnedPair>& pairs,
                    const std::vector<std::int64_t>& positions, const AskedShape& asked);

}  // namespace sextant::identify
