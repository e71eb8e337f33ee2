#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "lib/numeric/heads.hpp"
#include "lib/numeric/tensor.hpp"
#include "lib/spec/spec.hpp"

namespace sextant {

/// Rotary encoding over several axes, Wang et al. 2024 (Qwen2-VL), section 2.1, as lib/spec/rope_nd.hpp states it: pair
/// i of a vector turns by w_i p_a, a the axis of the pair, and is multiplied by the rule's attention factor. Const: one
/// encoder may serve any number of threads.
class RopeNdEncoder {
 public:
  /// @throws SpecError if `encoding` is outside its domain, TargetError if SEXTANT_FORCE_TARGET names no target of this
  /// machine.
  explicit RopeNdEncoder(const RopeNd& encoding);

  /// Turns every vector of `x` by its position into `y`, which is x itself (the same data and strides: in place) or
  /// apart from it. `positions` is [axes, batch, tokens] row-major. Each value is the nearest of the dtype to the real
  /// number, ties to even, and the same on any number of threads; zeros, NaN and infinity are as RopeEncoder has them,
  /// a pair turning by its coordinate.
  /// @throws std::invalid_argument and std::out_of_range as RopeEncoder::apply does, with nothing written; the latter
  /// also for coordinates beyond +-(2^52 - 2^20) that are normalized.
  void apply(const ConstHeads& x, std::span<const std::int64_t> positions, const Heads& y) const;

  /// The same in place.
  void apply(const Heads& x, std::span<const std::int64_t> positions) const;

  /// The adjoint: the gradient of the loss by x from that by the result, which is the rotation by the opposite angles,
  /// with the same guarantees.
  void backward(const ConstHeads& grad, std::span<const std::int64_t> positions, const Heads& grad_x) const;

  /// apply on tensors [batch, n, heads, head_dim].
  Tensor rotate(const Tensor& x, std::span<const std::int64_t> positions) const;

  /// The same into memory at any address, as large as x and apart from it.
  void rotate(const Tensor& x, std::span<const std::int64_t> positions, std::span<std::byte> out) const;

  /// backward on tensors.
  Tensor backward(const Tensor& grad, std::span<const std::int64_t> positions) const;

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

}  // namespace sextant
