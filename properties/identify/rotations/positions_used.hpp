#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "properties/identify/rotations/measured_turns.hpp"
#include "properties/identify/rotations/rotation_probe.hpp"

namespace sextant::identify {

/// How a subject is asked for pairs at positions, [batch, tokens]: one row for each vector, [batch, tokens, heads].
struct PairQuestion {
  std::function<Rows(const std::vector<std::int64_t>& positions, const AskedShape& shape)> ask;
  AskedShape shape;
  std::int64_t long_call = 0;  ///< tokens of a call that is asked besides those of five, and of one; 0 for neither
  std::int64_t first = 0;      ///< of the positions that may be asked
  std::int64_t end = 0;
  double step = 1;  ///< what a position's number counts
};

/// What rows are compared with: the frequencies of pairs, with their signs, and what values may be off by.
struct ExpectedPairs {
  std::vector<MeasuredTurn> turns;
  double noise = 0;
};

/// Whether positions are used as they are given.
struct PositionsUsed {
  bool as_given = true;
  /// "positions are rounded to bfloat16: right up to 256", or of positions as given "angles are rounded to bfloat16";
  /// empty where there is nothing to say, or no known way explains the answers.
  std::string words;
  /// The format that angles are rounded to, where it is one of 16 bits.
  std::optional<Dtype> angles;
  bool is_vague = false;  ///< whether the words say that something differs, and not what
};

/// Which positions pairs are turned by: from calls of several batch rows, tokens and heads, in no order, at positions
/// that are no powers of two.
PositionsUsed positions_used(const PairQuestion& question, const ExpectedPairs& pairs);

}  // namespace sextant::identify
