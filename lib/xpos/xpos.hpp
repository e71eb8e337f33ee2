#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "lib/kernels/frequency_pieces.hpp"
#include "lib/kernels/powers.hpp"
#include "lib/kernels/step_rotations.hpp"
#include "lib/numeric/tensor.hpp"
#include "lib/spec/spec.hpp"
#include "lib/xpos/rotate_pairs.hpp"

namespace sextant {

/// xPos, Sun et al. 2022, section 3.2, as lib/spec/xpos.hpp states it: pair i turns by w_i p as in rope and is
/// multiplied by zeta_i^(p/scale_base) in a query, by its inverse in a key. Const: one encoder may serve any number of
/// threads.
class XposEncoder {
 public:
  /// @throws SpecError if `encoding` is outside its domain, or has a scaling rule; TargetError if SEXTANT_FORCE_TARGET
  /// names no target of this machine.
  explicit XposEncoder(const Xpos& encoding);

  /// Turns and scales `x`, [batch, n, heads, head_dim], row-major and dense, of a floating dtype, by `positions`,
  /// [batch, n], within +-2^53, into `out`, of x's shape and dtype. Each value is the nearest of the dtype to the real
  /// number, ties to even (an infinity or a zero where the factor leaves the range), and the same on any number of
  /// threads; position 0 and the channels that no frequency turns are copied bit for bit; NaN and infinity stay in
  /// their pair, which is then turned but not scaled.
  /// @throws std::invalid_argument if the shapes do not fit each other or the spec, or out overlaps x;
  /// std::out_of_range for a position beyond +-2^53.
  void rotate(const Tensor& x, std::span<const std::int64_t> positions, std::span<std::byte> out) const;

  /// The same as a tensor.
  Tensor rotate(const Tensor& x, std::span<const std::int64_t> positions) const;

  /// The adjoint: the gradient of the loss by x from that by the result, which is the rotation by the opposite angle
  /// times the same factor, from the output's channels to the input's, with the same guarantees.
  Tensor backward(const Tensor& grad, std::span<const std::int64_t> positions) const;

 private:
  enum class Pass { forward, backward };

  void turn(const char* function, Pass pass, const Tensor& x, std::span<const std::int64_t> positions,
            std::span<std::byte> out) const;
  GeometricRotations::Turn turn_at(std::int64_t pair, std::int64_t position) const;

  /// What turns and multiplies at once as the position grows in one sense; the powers of the other sense are the
  /// inverse ones.
  struct Spiral {
    PowerRates rates;
    StepRotations steps;
  };

  Xpos encoding_;
  PairedChannels channels_;
  PairedChannels reversed_;
  GeometricRotations rotations_;
  FrequencyPieces frequencies_;
  Spiral counterclockwise_;
  Spiral clockwise_;
};

}  // namespace sextant
