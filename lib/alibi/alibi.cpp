#include "lib/alibi/alibi.hpp"

#include <bit>
#include <cmath>
#include <limits>

#include "lib/numeric/checks.hpp"
#include "lib/numeric/correct_rounding.hpp"
#include "lib/numeric/exact_sum.hpp"
#include "lib/numeric/parallel.hpp"

namespace sextant {
namespace {

const Alibi& checked(const Alibi& encoding) {
  Spec spec;
  spec.encoding = encoding;
  validate(spec);
  return encoding;
}

// Head h of n heads, n a power of two: 2^(-8 (h+1) / n). Beyond the largest power n' below n: heads 0, 2, 4, ... of 2 n'.
struct Exponent {
  std::int64_t numerator;
  std::int64_t denominator;
};
Exponent exponent_of(std::int64_t heads, std::int64_t head) {
  const auto power = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(heads)));
  if (head < power) return {8 * (head + 1), power};
  return {8 * (2 * (head - power) + 1), 2 * power};
}

// factor * 2^(-numerator/denominator), the denominator not dividing the numerator, within 2^10 spacings of itself: ln 2 and exp within 2^8
// (their argument is below 8 ln 2 < 6), two products and a quotient.
template <class Real>
Approximation<Real> power_times(std::int64_t numerator, std::int64_t denominator, std::int64_t factor) {
  const Real power = exp(Real(-log(Real(2)) * numerator / denominator));
  const Real value = power * factor;
  return {value, abs(value) * ldexp(spacing_at_one<Real>(), 12)};
}

}  // namespace

AlibiEncoder::AlibiEncoder(const Alibi& encoding) : encoding_(checked(encoding)) {
  for (std::int64_t head = 0; head < encoding.num_heads; ++head) {
    const Exponent exponent = exponent_of(encoding.num_heads, head);
    Slope slope{exponent.numerator, exponent.denominator, 1};
    slope.nearest = product({exponent.numerator, exponent.denominator, std::numeric_limits<double>::quiet_NaN()}, 1, Dtype::float64);
    slopes_.push_back(slope);
  }
}

// The power of two is irrational unless the denominator divides the numerator, so that the product is no tie.
double AlibiEncoder::product(const Slope& slope, std::int64_t factor, Dtype dtype) {
  if (factor == 0) return 0;
  if (slope.numerator % slope.denominator == 0) {
    const auto whole = static_cast<int>(slope.numerator / slope.denominator);
    // Two exact terms, as a factor beyond 2^53 is no double.
    ExactSum sum;
    sum.add(std::ldexp(static_cast<double>(factor >> 32), 32 - whole));
    sum.add(std::ldexp(static_cast<double>(factor & 0xFFFFFFFF), -whole));
    return sum.rounded(dtype);
  }
  // The slope, the factor and the product are rounded once each: below 3.1 u in all, and 8 u leaves room for the interval's own ends.
  const double value = slope.nearest * static_cast<double>(factor);
  const double error = std::fabs(value) * 0x1p-50;
  if (const auto rounded = rounded_alike(dtype, Interval{value - error, value + error})) return *rounded;
  return correctly_rounded(dtype, [&]<class Real>() { return power_times<Real>(slope.numerator, slope.denominator, factor); });
}

double AlibiEncoder::slope(std::int64_t head, Dtype dtype) const { return product(slopes_.at(static_cast<std::size_t>(head)), 1, dtype); }

void AlibiEncoder::bias(std::span<const std::int64_t> query_positions, std::span<const std::int64_t> key_positions, Dtype dtype,
                        std::span<std::byte> out) const {
  constexpr const char* function = "AlibiEncoder::bias";
  const std::int64_t queries = std::ssize(query_positions);
  const std::int64_t keys = std::ssize(key_positions);
  check_bytes(function, out, elements_of(std::vector<std::int64_t>{encoding_.num_heads, queries, keys}), dtype);
  check_range(function, query_positions);
  check_range(function, key_positions);
  const std::size_t width = size_of(dtype);
  parallel_for(encoding_.num_heads * queries, [&](std::int64_t row) {
    const Slope& slope = slopes_[static_cast<std::size_t>(row / queries)];
    const std::int64_t query = query_positions[static_cast<std::size_t>(row % queries)];
    std::byte* place = out.data() + static_cast<std::size_t>(row * keys) * width;
    for (const std::int64_t key : key_positions) {
      double value = -std::numeric_limits<double>::infinity();
      if (encoding_.mask == Mask::symmetric || key <= query) {
        const std::int64_t distance = key <= query ? query - key : key - query;
        value = product(slope, encoding_.form == AlibiForm::key_index ? key : -distance, dtype);
      }
      store(dtype, value, place);
      place += width;
    }
  });
}

Tensor AlibiEncoder::bias(std::span<const std::int64_t> query_positions, std::span<const std::int64_t> key_positions, Dtype dtype) const {
  Tensor matrices = Tensor::zeros(dtype, {encoding_.num_heads, std::ssize(query_positions), std::ssize(key_positions)});
  bias(query_positions, key_positions, dtype, matrices.data);
  return matrices;
}

}  // namespace sextant
