#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "lib/numeric/rounding.hpp"
#include "lib/numeric/tensor.hpp"
#include "lib/spec/spec.hpp"

namespace sextant {

/// The learned code of lib/spec/learned.hpp: row p of a weight [max_positions, dim], which the caller keeps.
/// A plain value, const: one encoder may serve any number of threads.
class LearnedEncoder {
 public:
  /// @throws SpecError if `encoding` is outside its domain, TargetError if SEXTANT_FORCE_TARGET names no target of this
  /// machine.
  explicit LearnedEncoder(const Learned& encoding);

  /// Row r of `out` becomes the weight's row positions[r], bit for bit: out.rows = positions.size(), out.width = dim,
  /// any row_stride >= dim, any alignment, the weight's floating dtype; bytes between the rows are untouched. `weight`
  /// and `out` do not overlap.
  /// @throws std::invalid_argument naming what does not fit, std::out_of_range unless 0 <= position < max_positions,
  /// both before anything is written.
  void encode(std::span<const std::int64_t> positions, const Tensor& weight, const Rows& out) const;

  /// The same into dense rows, [positions.size(), dim] of the weight's dtype. @throws std::invalid_argument for an
  /// `out` of another size.
  void encode(std::span<const std::int64_t> positions, const Tensor& weight, std::span<std::byte> out) const;

  /// The same as a tensor.
  Tensor encode(std::span<const std::int64_t> positions, const Tensor& weight) const;

  /// The gradient by the weight of the loss whose gradient by the code is `grad`, [positions.size(), dim]: row p of the
  /// result, [max_positions, dim] of grad's dtype, is the sum of grad's rows that stand at position p, the nearest
  /// value of the dtype to the exact sum, ties to even. So neither the order of the tokens nor the number of threads
  /// changes a bit. A sum of zero is +0.
  /// @throws as encode.
  Tensor grad_weight(std::span<const std::int64_t> positions, const Tensor& grad) const;

 private:
  void check(const char* function, std::span<const std::int64_t> positions) const;

  Learned encoding_;
};

}  // namespace sextant
