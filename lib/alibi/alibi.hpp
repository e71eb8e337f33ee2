#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lib/numeric/tensor.hpp"
#include "lib/spec/spec.hpp"

namespace sextant {

/// ALiBi, Press et al. 2021, section 3, as lib/spec/alibi.hpp states it, for any number of heads. Slopes are computed
/// once. Runs on the threads that OpenMP gives it, on the instruction set that targets.hpp picks; the bits depend on
/// neither. Const: one encoder may serve any number of threads.
class AlibiEncoder {
 public:
  /// @throws SpecError if `encoding` is outside its domain, TargetError if SEXTANT_FORCE_TARGET names no target of this
  /// machine.
  explicit AlibiEncoder(const Alibi& encoding);

  /// m_h, of slope_dtype where there is one, and then the nearest value of a floating dtype. @throws
  /// std::invalid_argument for another dtype, std::out_of_range unless 0 <= head < num_heads.
  double slope(std::int64_t head, Dtype dtype) const;

  /// What the scores gain, into `out`, [num_heads, queries, keys], row-major and dense, of a floating `dtype`, at any
  /// alignment: the nearest value of the dtype to the real number, ties to even, and +0 where that is 0; under a causal
  /// mask -infinity for a key after its query. Where keys outnumber queries, their positions say which query stands
  /// where.
  /// @throws std::invalid_argument for int64 or an `out` of another size, std::out_of_range for a position beyond
  /// +-2^53.
  void bias(std::span<const std::int64_t> query_positions, std::span<const std::int64_t> key_positions, Dtype dtype,
            std::span<std::byte> out) const;

  /// The same as a tensor.
  Tensor bias(std::span<const std::int64_t> query_positions, std::span<const std::int64_t> key_positions,
              Dtype dtype) const;

  const Alibi& encoding() const { return encoding_; }

 private:
  /// 2^(-numerator/denominator), and the two float64 whose sum is within 2^-106 of its size: the nearest, and the
  /// nearest to what is left. Where that power or the slope_dtype makes it a double, `high` is the slope.
  struct Slope {
    std::int64_t numerator;
    std::int64_t denominator;
    double high;
    double low;
  };

  static bool is_power(const Slope& slope);  // a whole power of two
  bool is_double(const Slope& slope) const;

  double product(const Slope& slope, std::int64_t factor, Dtype dtype) const;

  Alibi encoding_;
  std::vector<Slope> slopes_;
};

}  // namespace sextant
