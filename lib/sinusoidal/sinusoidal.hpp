#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "lib/numeric/position_range.hpp"
#include "lib/numeric/rounding.hpp"
#include "lib/numeric/tensor.hpp"
#include "lib/spec/spec.hpp"

namespace sextant {

struct SinusoidalPlan;

/// The sinusoidal encoding of Vaswani et al. 2017, section 3.5, as spec.hpp states it: scale * sin(w_i (p +
/// position_offset)) and the cosine, w_i = base^(-2i/dim), in the channels that layout and first give them; angle_scale
/// multiplies angles, and the last channel of an odd dim is +0. Of real positions p = n * step (Sinusoidal::positions)
/// calls are given the counts n.
///
/// Rounding::certified: the nearest value of the dtype to the real number, ties to even, overflow to infinity; sin of
/// position 0 is +0 whatever the sign of the scale. Bitwise the same on every instruction set and thread count.
/// Rounding::fast: float32 within half a ULP + 2^-50 |scale| of the real number; float16 and bfloat16 within half a ULP
/// + half a ULP of float32 + 2^-50 |scale|; float64 within half a ULP + 2^-93 |scale|. Since no element exceeds the
/// pair's norm |scale|, all are within 0.51 ULP of the norm as long as |scale| is in the dtype's normal range. Beyond
/// the dtype's largest value it bounds nothing. The same on every thread count, but not on every instruction set.
///
/// Const: one encoder may serve any number of threads. Setting one up costs some microseconds per pair; a call
/// allocates nothing. Runs on the threads that OpenMP gives it, on the instruction set that targets.hpp picks. Past the
/// size of the last-level cache the rows are written around it.
class SinusoidalEncoder {
 public:
  /// @throws SpecError if `encoding` is outside its domain, TargetError if SEXTANT_FORCE_TARGET names no target of this
  /// machine.
  explicit SinusoidalEncoder(const Sinusoidal& encoding);

  /// The same where a pair turns by w_i times `unit` for each position, in place of w_i radians: sin is +0 also where
  /// the angle is a multiple of half a turn, and cos where it is a quarter of one away from that.
  SinusoidalEncoder(const Sinusoidal& encoding, const CountUnit& unit);

  /// Row r of `out` becomes the encoding of positions[r]. out.rows = positions.size(), out.width = dim, any row_stride
  /// >= dim, any alignment, any floating dtype; bytes between the rows are untouched. `positions` and `out` do not
  /// overlap. No rows: nothing is written.
  /// @throws std::invalid_argument naming what does not fit, std::out_of_range unless every position, and every
  /// position + position_offset, is within +-2^54, both before anything is written.
  void encode(std::span<const std::int64_t> positions, const Rows& out, Rounding rounding = Rounding::certified) const;

  /// The same for a range; consecutive positions are what the kernels are fastest at.
  void encode(const PositionRange& positions, const Rows& out, Rounding rounding = Rounding::certified) const;

  /// The rows of `positions` as a new tensor of shape [positions.size(), dim].
  Tensor encode(std::span<const std::int64_t> positions, Dtype dtype, Rounding rounding = Rounding::certified) const;

  std::int64_t dim() const;

 private:
  std::shared_ptr<const SinusoidalPlan> plan_;
};

}  // namespace sextant
