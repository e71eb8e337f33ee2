#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lib/spec/rope.hpp"

namespace sextant {

/// Where the angles of normalized coordinates, 2 pi w q s / E, are such parts of a turn that a component of a turned
/// pair may be exactly 0, half way between two values of a dtype, or exact. docs/proofs/rope.md, step 20: that takes a
/// rational w and a whole number of 24ths of a turn. Angles of other coordinates are no such parts (Lindemann).
class ExactTurns {
 public:
  explicit ExactTurns(const Ladders& ladders);

  /// j mod 24, at least 0, where the angle of the pair at count q is j/24 of a turn. Domain: |q| <= 2^53, q not 0.
  std::optional<int> twenty_fourths(std::int64_t pair, std::int64_t q) const;

 private:
  // An angle of stretch turns divided by extent * divisor for each count; none where w is irrational or no part of a
  // turn.
  struct Part {
    std::int64_t extent;
    double divisor;
    double stretch;
  };
  std::vector<std::optional<Part>> parts_;  // of each pair; empty where no coordinate is normalized
};

}  // namespace sextant
