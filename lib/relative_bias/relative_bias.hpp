#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lib/numeric/tensor.hpp"
#include "lib/spec/spec.hpp"

namespace sextant {

/// The relative position bias of T5 (Raffel et al. 2019, section 2.1), and by DeBERTa-v2's and Shaw et al.'s buckets,
/// as lib/spec/relative_bias.hpp states them; the caller keeps the weight. The borders between buckets are computed
/// once, as integers. Const: one encoder may serve any number of threads.
class RelativeBiasEncoder {
 public:
  /// @throws SpecError if `encoding` is outside its domain, TargetError if SEXTANT_FORCE_TARGET names no target of this
  /// machine.
  explicit RelativeBiasEncoder(const RelativeBias& encoding);

  /// The bucket of a key `relative` = key - query away: that of the real-number formula, exactly. Any integer.
  std::int64_t bucket(std::int64_t relative) const;

  /// weight[bucket(key - query), h] into `out`, [heads, queries, keys], row-major and dense, of the weight's floating
  /// dtype, bit for bit; `weight` is [num_buckets, heads].
  /// @throws std::invalid_argument for a weight of another shape or an `out` of another size, std::out_of_range for a
  /// position beyond +-2^53.
  void bias(std::span<const std::int64_t> query_positions, std::span<const std::int64_t> key_positions,
            const Tensor& weight, std::span<std::byte> out) const;

  /// The same as a tensor.
  Tensor bias(std::span<const std::int64_t> query_positions, std::span<const std::int64_t> key_positions,
              const Tensor& weight) const;

  /// The gradient by the weight of the loss whose gradient by the bias is `grad`, [heads, queries, keys]: each element
  /// of the result, [num_buckets, heads] of grad's dtype, is the nearest value of the dtype to the exact sum of grad
  /// over the pairs of its bucket, ties to even; so the number of threads changes no bit. A sum of zero is +0. @throws
  /// likewise.
  Tensor grad_weight(std::span<const std::int64_t> query_positions, std::span<const std::int64_t> key_positions,
                     const Tensor& grad) const;

  const RelativeBias& encoding() const { return encoding_; }

 private:
  std::int64_t directed_bucket(std::int64_t distance) const;
  std::int64_t kept_bucket(std::int64_t distance) const;

  RelativeBias encoding_;
  std::int64_t exact_;  // distances below it are their own buckets
  std::vector<std::int64_t>
      borders_;  // the least distance of each bucket of one direction beyond the exact ones, but the first
  std::vector<std::int32_t> near_;  // directed_bucket of the first distances, for speed
};

}  // namespace sextant
