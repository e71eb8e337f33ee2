#pragma once

#include <rapidcheck.h>

#include <cstdint>
#include <vector>

#include "lib/spec/spec.hpp"

namespace sextant::gen {

/// A span of consecutive positions: first <= p < last, not empty.
struct PositionRange {
  std::int64_t first;
  std::int64_t last;
};

/// The positions of the claim.
PositionRange range_of(const Spec& spec);

/// The position of the range nearest to 0: what counterexamples shrink to.
std::int64_t simplest_position(const PositionRange& range);

/// Positions by regime: a third each
///   - those where implementations break: the ends of the range, 0, 1, 2^k and its neighbours (257 and 2049 are where
///     bfloat16 and float16 integers end), 4096, 8191, 65520 (float16's overflow), 10^6,
///   - log-uniform in magnitude, of either sign where the range has both,
///   - uniform over the range.
rc::Gen<std::int64_t> position(PositionRange range);

/// first, first + 1, ..., `count` of them.
std::vector<std::int64_t> consecutive(std::int64_t first, std::int64_t count);

/// Integers in [low, high], all equally likely.
rc::Gen<std::int64_t> count(std::int64_t low, std::int64_t high);

/// One of `values`, all equally likely.
rc::Gen<std::int64_t> one_of(std::vector<std::int64_t> values);

}  // namespace sextant::gen
