#pragma once

#include <cstdint>

#include "properties/model/budget.hpp"

namespace sextant {

/// How far what qk_norm_rope turns may be off by, docs/proofs/accuracy-classes.md, steps 24 to 26: channel i of a
/// normalized head by relative |n_i| + least.
struct HeadNormBudget {
  /// `largest_gain` is at least every |weight_offset + w_i| of the head. @param claim  arithmetic_of the spec.
  HeadNormBudget(const ArithmeticClaim& claim, const QkNormRope& encoding);

  /// Of the two strictest classes both are 0: their values are formed of the true norm.
  double relative = 0;
  double least(double largest_gain) const { return least_ * (most_root_ + largest_gain); }

 private:
  double least_ = 0;
  double most_root_ = 0;
};

/// The largest channel that the claims are about, of a head of `head_dim`: none whose squares' sum may leave the format
/// that it is formed in.
double largest_normalized(Dtype dtype, std::int64_t head_dim);

}  // namespace sextant
