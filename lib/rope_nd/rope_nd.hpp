#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lib/kernels/frequency_pieces.hpp"
#include "lib/kernels/step_rotations.hpp"
#include "lib/numeric/tensor.hpp"
#include "lib/rope/kernels.hpp"
#include "lib/spec/spec.hpp"

namespace sextant {

/// Rotary encoding over several axes, Wang et al. 2024 (Qwen2-VL), section 2.1, as lib/spec/rope_nd.hpp states it: pair
/// i of a vector turns by w_i p_a, w_i = rope_theta^(-2i/head_dim), a the axis of the pair. Const: one encoder may
/// serve any number of threads.
class RopeNdEncoder {
 public:
  /// @throws SpecError if `encoding` is outside its domain, TargetError if SEXTANT_FORCE_TARGET names no target of this
  /// machine.
  explicit RopeNdEncoder(const RopeNd& encoding);

  /// Turns `x`, [batch, n, heads, head_dim], row-major and dense, of a floating dtype, by `positions`, [axes, batch,
  /// n], row-major and within +-2^53, into `out`, of x's shape and dtype. Each value is the nearest of the dtype to the
  /// real number, ties to even, and the same on any number of threads; a pair whose coordinate is 0 is copied bit for
  /// bit; NaN and infinity stay in their pair.
  /// @throws std::invalid_argument if the shapes do not fit each other or the spec, or out overlaps x;
  /// std::out_of_range for a position beyond +-2^53.
  void rotate(const Tensor& x, std::span<const std::int64_t> positions, std::span<std::byte> out) const;

  /// The same as a tensor.
  Tensor rotate(const Tensor& x, std::span<const std::int64_t> positions) const;

  /// The adjoint: the gradient of the loss by x from that by the result, which is the rotation by the opposite angles,
  /// with the same guarantees.
  Tensor backward(const Tensor& grad, std::span<const std::int64_t> positions) const;

 private:
  enum class Pass { forward, backward };

  void turn(const char* function, Pass pass, const Tensor& x, std::span<const std::int64_t> positions,
            std::span<std::byte> out) const;

  RopeNd encoding_;
  std::vector<std::vector<unsigned char>> channels_of_axes_;
  Rope diagonal_;
  FrequencyPieces frequencies_;
  StepRotations steps_;
  PairAxes axes_;
};

}  // namespace sextant
