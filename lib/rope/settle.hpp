#pragma once

#include <cstdint>

#include "lib/numeric/dtype.hpp"
#include "lib/rope/plan.hpp"

namespace sextant {

// What the vector kernels leave open: the rare pair whose interval holds a rounding border, and the pairs that their
// error bounds do not reach (zeros, infinities, NaN, magnitudes near the ends of the format). The code here is compiled
// once, so its results do not depend on the instruction set.

/// A number in double-double: high + low.
struct Sum {
  double high;
  double low;
};

/// One pair of one call. The rotation is by frequency * position; a clockwise one has its position negated.
struct OpenPair {
  const RopePlan* plan;
  Dtype dtype;
  std::int64_t pair;
  std::int64_t position;
  double first;
  double second;
  /// sin and cos of the angle, each within precise_rotation_error (lib/kernels/rotation_error.hpp).
  Sum sin;
  Sum cos;
};

/// Values of the dtype.
struct SettledPair {
  double first;
  double second;
};

/// The values of the dtype nearest to a (x0 cos - x1 sin) and a (x0 sin + x1 cos), ties to even, overflow to infinity:
/// first by double-double, then by 256 to 5000 bits (Ziv 1991).
///
/// A real zero becomes +0, a nonzero number that rounds to zero keeps its sign. If x has a NaN, both results are the
/// canonical quiet NaN; if it has an infinity, they are what IEEE 754 arithmetic makes of the formula with the signs of
/// the true sin and cos, any NaN canonical. Exact ties are decided as such: position 0 with a rational a, and parts of
/// a turn (exact_turns.hpp). No other tie is known: for a frequency that is algebraic, cos and sin of the angle are
/// transcendental (Lindemann). @throws
/// std::domain_error should 5000 bits not tell the two sides of a tie.
SettledPair settle(const OpenPair& open);

}  // namespace sextant
