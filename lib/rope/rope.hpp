#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "lib/numeric/heads.hpp"
#include "lib/numeric/rounding.hpp"
#include "lib/numeric/tensor.hpp"
#include "lib/spec/spec.hpp"

namespace sextant {

class RopePlans;

/// The rotary encoding of Su et al. 2021, section 3.2.2, as lib/spec/rope.hpp states it, under any of its scaling
/// rules:
///
///     y0 = a (x0 cos(p w) - x1 sin(p w)),    y1 = a (x0 sin(p w) + x1 cos(p w))
///
/// for the pair (x0, x1) of frequency w at position p (of real positions p = n * step, Rope::positions, calls are given
/// the counts n), the negative angle where the direction is clockwise; a is the
/// attention factor of the scaling rule, else 1. All of them are the real numbers: w and a are not rounded, and the
/// angle is taken modulo one turn exactly. Channels that no frequency turns are copied bit for bit.
///
/// Rounding::certified gives the value of the dtype nearest to the real y0, y1 (ties to even, overflow to infinity), so
/// that the bits are the same on every instruction set, machine and number of threads. A real zero is +0; a nonzero y
/// that rounds to zero keeps its sign. A pair with a NaN becomes two canonical quiet NaNs; one with an infinity becomes
/// what IEEE 754 arithmetic makes of the formula, with the signs of the true cos and sin, any NaN canonical. Neither
/// touches other pairs.
///
/// Rounding::fast is near to the pair's norm N = a hypot(x0, x1), for each of y0 and y1, while 2 N is finite in the
/// dtype and a in [2^-20, 2^20] (another a is served as certified), at any position; a ULP is that of N. float32 and
/// float64 are within 1.71 ULP where a is 1, else 2.01, and half a ULP more where N lies within a ULP below a power of
/// two: a cos and a sin of the exact angle are rounded to the dtype, and turn by a product and a fused operation each
/// (docs/proofs/rope.md, step 22). Where the target has no fused operations float32 is turned in double and rounded,
/// within 0.5 + 14 2^-29 ULP (steps 1 to 3; one ULP is at least 2^-24 of N, |x0| + |x1| at most sqrt 2 of it), and
/// float64 is as certified. 16-bit types are turned in float and rounded: 0.5 + 6.5 2^-13 ULP for float16, whose unit
/// is 2^-11 of the norm at least, and 0.5 + 6.5 2^-16 for bfloat16; in its subnormals 2^-16 ULP more.
///
/// A result of another dtype than x is rounded once: certified, it is the value of its dtype nearest to the real y0, y1
/// of x as it is, with zeros, NaN and infinity as above; channels that no frequency turns are rounded to it, a NaN
/// among them to the canonical one. Rounding::fast is within the bound above of the wider dtype (float32 at least), and
/// half a ULP of its own for the rounding.
///
/// Values are const: one encoder may serve any number of threads. Setting one up for 64 frequencies takes a fraction of
/// a millisecond. Nothing is allocated in a call, but for three cases: beyond original_max_position_embeddings dynamic
/// scaling makes frequencies for each length (some 10 microseconds and 30 bytes a pair), a head larger than 8 KiB that
/// changes its pairing in place is set aside, and results of another dtype than x, but for 16 bits of float32, take
/// each thread the memory of one token's heads, and the call some bytes a channel. Work is spread over OpenMP's
/// threads.
class RopeEncoder {
 public:
  /// @throws SpecError if `encoding` is outside its domain, TargetError if SEXTANT_FORCE_TARGET is wrong.
  explicit RopeEncoder(const Rope& encoding);

  /// Turns every vector of `x` by its position into `y`, which is x itself (the same data and strides: in place) or
  /// apart from it, say slots of a cache of keys. y may be of any floating dtype where it is apart. `positions` is
  /// [batch, tokens] row-major. Rules that depend on a length take the largest position + 1, of the call or of the
  /// batch row as their length_scope says.
  /// @throws std::invalid_argument, with nothing written, if a dtype is not floating; `rounding` is neither value; x is
  /// not head_dim wide; y has other extents; an extent or stride is negative, or the extent in bytes beyond 2^62; data
  /// is null or not aligned to its elements; two elements of y are one; x and y overlap otherwise (from the first byte
  /// of each to its last); or the number of positions is not batch * tokens; std::out_of_range likewise if one lies
  /// outside +-2^53.
  /// @throws std::domain_error if 5000 bits leave a value undecided, of which no case is known (settle.hpp).
  void apply(const ConstHeads& x, std::span<const std::int64_t> positions, const Heads& y,
             Rounding rounding = Rounding::certified) const;

  /// The same in place.
  void apply(const Heads& x, std::span<const std::int64_t> positions, Rounding rounding = Rounding::certified) const;

  /// The adjoint: grad_x = transpose(d apply / d x) grad, which turns by the negative angle, times a, from
  /// output_pairing to pairing. grad_x has grad's dtype. Everything else is as in apply.
  void backward(const ConstHeads& grad, std::span<const std::int64_t> positions, const Heads& grad_x,
                Rounding rounding = Rounding::certified) const;

  /// Row i: a cos(w p) and a sin(w p) of each frequency w at p = positions[i], whatever the direction, correctly
  /// rounded; one call of one row as far as scaling by length goes. cos and sin are [positions.size(),
  /// pairs(encoding)] of one floating dtype, and do not overlap.
  /// @throws std::invalid_argument, with nothing written, if not, or if data is not aligned to its elements;
  /// std::out_of_range for a position outside +-2^53.
  /// @throws std::domain_error as apply does.
  void tables(std::span<const std::int64_t> positions, const Rows& cos, const Rows& sin) const;

  /// apply on tensors [batch, n, heads, head_dim]. @throws as apply does.
  Tensor rotate(const Tensor& x, std::span<const std::int64_t> positions,
                Rounding rounding = Rounding::certified) const;

  /// backward on tensors.
  Tensor backward(const Tensor& grad, std::span<const std::int64_t> positions,
                  Rounding rounding = Rounding::certified) const;

  const Rope& encoding() const;

 private:
  std::shared_ptr<const RopePlans> plans_;
};

}  // namespace sextant
