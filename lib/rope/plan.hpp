#pragma once

#include <cstdint>
#include <optional>

#include "lib/kernels/frequency_pieces.hpp"
#include "lib/kernels/step_rotations.hpp"
#include "lib/rope/frequencies.hpp"
#include "lib/spec/rope.hpp"

namespace sextant {

/// What the pairs of a rotary encoding turn by in calls of one length, made once for all of them.
struct RopePlan {
  /// Domain: an encoding that passes validate. @throws as rope_turns and StepRotations do.
  RopePlan(const Rope& rope, std::int64_t length_of_calls);

  Rope encoding;
  std::int64_t length;
  FrequencyPieces frequencies;
  StepRotations steps;
  AttentionFactor factor;
};

/// The plans of an encoding's calls of any length. Const: one object may serve any number of threads.
class RopePlans {
 public:
  /// Checks the encoding, and makes the plans that can be made before a call.
  /// @throws SpecError, TargetError as RopeEncoder does.
  explicit RopePlans(const Rope& encoding);

  /// The plan of a call, or a batch row of one, whose largest position is length - 1. Dynamic scaling makes one for it,
  /// which `own` then holds.
  const RopePlan& for_length(std::int64_t length, std::optional<RopePlan>& own) const;

  const Rope& encoding() const { return plan_.encoding; }

 private:
  RopePlan plan_;
  std::optional<RopePlan> beyond_;  // longrope's, for calls longer than original_max_position_embeddings
};

}  // namespace sextant
