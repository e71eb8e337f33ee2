#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "lib/numeric/heads.hpp"
#include "lib/numeric/tensor.hpp"
#include "lib/spec/spec.hpp"

namespace sextant {

class RopePlans;
struct VectorCall;

/// The norm of queries and keys and then their rotation, as lib/spec/qk_norm_rope.hpp states it. Const: one encoder may
/// serve any number of threads.
///
/// Results in float32, float16 and bfloat16 are formed in double and rounded once, whatever x is: each component is
/// within 0.51 ULP of its turned pair's norm, a channel that does not turn within 0.51 ULP of itself. (Where that norm
/// is beyond the dtype's range, its ULP is that of a format without an end.) float64 is within exact-angle's bound
/// (docs/proofs/accuracy-classes.md, step 27). Heads with a NaN or an infinity become what IEEE 754 arithmetic makes of
/// the formula; other heads do not see them.
class QkNormRopeEncoder {
 public:
  /// @throws SpecError if `encoding` is outside its domain, TargetError if SEXTANT_FORCE_TARGET is wrong.
  explicit QkNormRopeEncoder(const QkNormRope& encoding);

  /// Normalizes and turns every head of `x`, queries or keys, into `y`, which is x itself (the same data and strides:
  /// in place) or apart from it, say slots of a cache of keys. y may be of any floating dtype where it is apart.
  /// `weight` is [head_dim] of x's dtype, `positions` [batch, tokens] row-major. The channels of a float64 head lie
  /// below 2^500.
  /// @throws std::invalid_argument and std::out_of_range as RopeEncoder::apply does, and for a weight of another shape
  /// or dtype, with nothing written.
  void apply(const ConstHeads& x, const Tensor& weight, std::span<const std::int64_t> positions, const Heads& y) const;

  /// The same in place.
  void apply(const Heads& x, const Tensor& weight, std::span<const std::int64_t> positions) const;

  /// What a call has: tensors [batch, n, heads, head_dim] of queries and of keys, whose heads may be fewer, and the
  /// weights of their norms.
  struct Inputs {
    const Tensor& q;
    const Tensor& k;
    const Tensor& q_weight;
    const Tensor& k_weight;
    std::span<const std::int64_t> positions;
  };
  struct Turned {
    Tensor q;
    Tensor k;
  };

  /// apply of both.
  Turned apply(const Inputs& inputs) const;

 private:
  struct Names;
  VectorCall check(const ConstHeads& x, const Tensor& weight, std::span<const std::int64_t> positions, const Heads& y,
                   const Names& names) const;
  void turn(const VectorCall& call, const ConstHeads& x, const Tensor& weight, std::span<const std::int64_t> positions,
            const Heads& y) const;

  QkNormRope encoding_;
  std::shared_ptr<const RopePlans> plans_;
};

}  // namespace sextant
