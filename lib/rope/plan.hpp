#pragma once

#include <cstdint>
#include <optional>

#include "lib/kernels/frequency_pieces.hpp"
#include "lib/kernels/step_rotations.hpp"
#include "lib/rope/exact_turns.hpp"
#include "lib/rope/frequencies.hpp"
#include "lib/spec/rope.hpp"

namespace sextant {

/// What the pairs of a rotary encoding turn by in calls of one length, made once for all of them.
struct RopePlan {
  /// @param head  the channels, and the rule, which has the attention factor
  /// Domain: encodings that pass validate. @throws as rope_turns and StepRotations do.
  RopePlan(const Rope& head, const Ladders& ladders, std::int64_t length_of_calls);

  Rope encoding;
  Ladders ladders;
  std::int64_t length;
  FrequencyPieces frequencies;
  StepRotations steps;
  AttentionFactor factor;
  ExactTurns exact_turns;
};

/// The plans of an encoding's calls of any length. Const: one object may serve any number of threads.
class RopePlans {
 public:
  /// Checks the encoding, and makes the plans that can be made before a call.
  /// @throws SpecError, TargetError as RopeEncoder does.
  explicit RopePlans(const Rope& encoding);
  /// @param head  the channels, and the rule. Domain: those of an encoding that passes validate.
  RopePlans(const Rope& head, const Ladders& ladders);

  /// The plan made before calls, whose frequencies are those of short ones.
  const RopePlan& first() const { return plan_; }

  /// The plan of a call, or a batch row of one, whose largest position is length - 1. Dynamic scaling makes one for it,
  /// which `own` then holds.
  const RopePlan& for_length(std::int64_t length, std::optional<RopePlan>& own) const;

  /// The channels of a head, with the rule.
  const Rope& encoding() const { return plan_.encoding; }

 private:
  RopePlan plan_;
  std::optional<RopePlan> beyond_;  // longrope's, for calls longer than original_max_position_embeddings
};

}  // namespace sextant
