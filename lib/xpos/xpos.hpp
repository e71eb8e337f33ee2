#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "lib/numeric/heads.hpp"
#include "lib/numeric/tensor.hpp"
#include "lib/spec/spec.hpp"

namespace sextant {

/// xPos, Sun et al. 2022, section 3.2, as lib/spec/xpos.hpp states it: pair i turns by w_i p as in rope and is
/// multiplied by zeta_i^((p - c)/scale_base) in a query, by its inverse in a key, c the centre. Const: one encoder may
/// serve any number of threads.
class XposEncoder {
 public:
  /// @throws SpecError if `encoding` is outside its domain, or has a scaling rule; TargetError if SEXTANT_FORCE_TARGET
  /// names no target of this machine.
  explicit XposEncoder(const Xpos& encoding);

  /// Turns and scales every vector of `x` by its position into `y`, which is x itself (the same data and strides: in
  /// place) or apart from it. `positions` is [batch, tokens] row-major. Each value is the nearest of the dtype to the
  /// real number, ties to even (an infinity or a zero where the factor leaves the range), and the same on any number of
  /// threads; position 0, where it is the centre, and the channels that no frequency turns are copied bit for bit; NaN
  /// and infinity stay in their pair, which is then turned but not scaled.
  /// @throws std::invalid_argument and std::out_of_range as RopeEncoder::apply does, with nothing written.
  void apply(const ConstHeads& x, std::span<const std::int64_t> positions, const Heads& y) const;

  /// The same in place.
  void apply(const Heads& x, std::span<const std::int64_t> positions) const;

  /// The adjoint: the gradient of the loss by x from that by the result, which is the rotation by the opposite angle
  /// times the same factor, from the output's channels to the input's, with the same guarantees.
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
