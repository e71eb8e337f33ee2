#pragma once

#include <rapidcheck.h>

#include <cstdint>

namespace sextant::gen {

/// Integers simpler than `value`, simplest first: `target`, then target + s with |s| = 2^k - 1, 2^k, 2^k + 1 from small
/// to large on value's side, then those that halving the distance reaches (rc::shrink::towards). Positions fail at
/// powers of two, where narrow types end: from 511, halving alone meets even numbers only and never finds 257.
rc::Seq<std::int64_t> simpler_integers(std::int64_t value, std::int64_t target);

}  // namespace sextant::gen
