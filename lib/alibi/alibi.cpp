// Biases of whole matrices of scores, each the nearest value to slope times distance.
//
//   1. A slope is a power of two, a double (slope_dtype) or irrational; an irrational one is kept as two doubles,
//      within 2^-106 of itself.
//   2. Where keys follow one another a bias depends on key - query alone: one row of them is computed for each head,
//      and every query's row is copied from it (lib/kernels/relative_range.hpp).
//   3. Else rows are computed by vectors (rows.cpp), which leave open what they cannot round. That, and distances
//      beyond 2^52, are computed one by one: exactly where the slope is a double, else by enclosures.
//
// The bounds stand beside the code: power_times and AlibiEncoder::product here, the vectors' in rows.cpp.

#include "lib/alibi/alibi.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <span>
#include <stdexcept>

#include "lib/alibi/rows.hpp"
#include "lib/kernels/checks.hpp"
#include "lib/kernels/correct_rounding.hpp"
#include "lib/kernels/exact_sum.hpp"
#include "lib/kernels/relative_range.hpp"
#include "lib/kernels/table_rows.hpp"
#include "lib/kernels/targets.hpp"
#include "lib/numeric/standard_arithmetic.hpp"

namespace sextant {
namespace {

const Alibi& checked(const Alibi& encoding) {
  Spec spec;
  spec.encoding = encoding;
  validate(spec);
  return encoding;
}

// Head h of n heads: 2^(-B (h+1) / n), B the bias_max, of released slopes where n is a power of two. Else, beyond the
// largest power n' below n, those are heads 0, 2, 4, ... of 2 n'.
struct Exponent {
  std::int64_t numerator;
  std::int64_t denominator;
};
Exponent exponent_of(const Alibi& encoding, std::int64_t head) {
  const std::int64_t heads = encoding.num_heads;
  if (encoding.slopes == AlibiSlopes::geometric) return {encoding.bias_max * (head + 1), heads};
  const auto power = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(heads)));
  if (head < power) return {encoding.bias_max * (head + 1), power};
  return {encoding.bias_max * (2 * (head - power) + 1), 2 * power};
}

// factor * 2^(-numerator/denominator), the denominator not dividing the numerator. The exponent is at most
// 24 ln 2 < 17; with e = spacing_at_one and the bounds of wide.hpp it errs by 17 (2^7 + 2) e, exp by (2^5 17 + 2^6) e
// more, the product by e: below 2^12 e of the value.
template <class Real>
Approximation<Real> power_times(std::int64_t numerator, std::int64_t denominator, std::int64_t factor) {
  const Real power = exp(Real(-log(Real(2)) * numerator / denominator));
  const Real value = power * factor;
  return {value, abs(value) * ldexp(spacing_at_one<Real>(), 13)};
}

}  // namespace

bool AlibiEncoder::is_power(const Slope& slope) { return slope.numerator % slope.denominator == 0; }

bool AlibiEncoder::is_double(const Slope& slope) const { return is_power(slope) || encoding_.slope_dtype; }

AlibiEncoder::AlibiEncoder(const Alibi& encoding) : encoding_(checked(encoding)) {
  target_in_use();  // before the first dispatch
  const StandardArithmetic arithmetic;
  fill_wide_constants();
  for (std::int64_t head = 0; head < encoding.num_heads; ++head) {
    const Exponent exponent = exponent_of(encoding, head);
    Slope slope{exponent.numerator, exponent.denominator, 0, 0};
    if (is_power(slope)) {
      slope.high = std::ldexp(1.0, -static_cast<int>(slope.numerator / slope.denominator));
    } else if (encoding.slope_dtype) {
      slope.high = correctly_rounded(*encoding.slope_dtype, [&]<class Real>() {
        return power_times<Real>(slope.numerator, slope.denominator, 1);
      });
    } else {
      const auto power = power_times<Wide<256>>(slope.numerator, slope.denominator, 1).value;
      slope.high = static_cast<double>(power);
      slope.low = static_cast<double>(Wide<256>(power - slope.high));
    }
    slopes_.push_back(slope);
  }
}

// The power of two is irrational unless the denominator divides the numerator, so that its product is no tie.
double AlibiEncoder::product(const Slope& slope, std::int64_t factor, Dtype dtype) const {
  if (factor == 0) return 0;
  constexpr std::int64_t exact = std::int64_t{1} << 53;  // the factors that are doubles
  const bool factor_is_double = factor >= -exact && factor <= exact;
  if (is_double(slope)) {
    const auto f = static_cast<double>(factor);
    const double p = slope.high * f;
    if (factor_is_double && (dtype == Dtype::float64 || std::fma(slope.high, f, -p) == 0)) return round_to(dtype, p);
    ExactSum sum;
    for (const double part :
         {std::ldexp(static_cast<double>(factor >> 32), 32), static_cast<double>(factor & 0xFFFFFFFF)}) {
      const double of_part = slope.high * part;
      sum.add(of_part);
      sum.add(std::fma(slope.high, part, -of_part));  // exact: the product is of at most 85 bits
    }
    return sum.rounded(dtype);
  }
  if (factor_is_double) {
    // m = high + low within 2^-106 m (1 + 2^-50), and high f = p + e exactly, |e| <= 2^-53 |p|. low f and its sum with
    // e are rounded: by at most 2^-106 |p| and 2^-105 |p| in first order, and as much as the latter once more where the
    // margin is put to it. Together below 2^-103 |p|.
    const auto f = static_cast<double>(factor);
    const double p = slope.high * f;
    const double rest = std::fma(slope.high, f, -p) + slope.low * f;
    const double margin = std::fabs(p) * 0x1p-102;
    const double low = p + (rest - margin);
    const double high = p + (rest + margin);
    if (dtype == Dtype::float64) {
      if (low == high) return low;
    } else {
      // low is the nearest double to a number within 2^-101 |p|: an end at 2^-51 |p|, itself rounded, still lies beyond
      // both.
      const double error = std::fabs(low) * 0x1p-51;
      if (const auto rounded = rounded_alike(dtype, Interval{low - error, low + error})) return *rounded;
    }
  }
  return correctly_rounded(dtype,
                           [&]<class Real>() { return power_times<Real>(slope.numerator, slope.denominator, factor); });
}

double AlibiEncoder::slope(std::int64_t head, Dtype dtype) const {
  constexpr const char* function = "AlibiEncoder::slope";
  check_floating(function, dtype);
  if (head < 0 || head >= encoding_.num_heads)
    throw std::out_of_range(fmt::format("{}: head: {} is none of {}", function, head, encoding_.num_heads));
  const StandardArithmetic arithmetic;
  return product(slopes_[static_cast<std::size_t>(head)], 1, dtype);
}

void AlibiEncoder::bias(std::span<const std::int64_t> query_positions, std::span<const std::int64_t> key_positions,
                        Dtype dtype, std::span<std::byte> out) const {
  constexpr const char* function = "AlibiEncoder::bias";
  const std::int64_t queries = std::ssize(query_positions);
  const std::int64_t keys = std::ssize(key_positions);
  check_bytes(function, out, elements_of(std::vector<std::int64_t>{encoding_.num_heads, queries, keys}), dtype);
  check_range(function, "query_positions", query_positions);
  check_range(function, "key_positions", key_positions);
  // Positions that a call may have, the few beyond which differences may reach left to the other way.
  constexpr std::int64_t limit = std::int64_t{1} << 53;
  if (const auto range = short_range(query_positions, key_positions);
      range && encoding_.form == AlibiForm::distance && queries > 3 && range->first >= -limit && range->last <= limit) {
    // The row of position 0, for every key - query, has the bias of every query.
    std::vector<std::int64_t> relative(static_cast<std::size_t>(range->count()));
    std::iota(relative.begin(), relative.end(), range->first);
    const Tensor lists = bias(std::vector<std::int64_t>{0}, relative, dtype);
    write_from_lists(*range, encoding_.num_heads, query_positions, key_positions, dtype, lists.data.data(), out.data());
    return;
  }
  const std::size_t width = size_of(dtype);
  // Within 2^52 a distance is a double, and the kernel's.
  const auto is_near = [](std::int64_t position) { return std::abs(position) <= std::int64_t{1} << 52; };
  const bool near = std::ranges::all_of(query_positions, is_near) && std::ranges::all_of(key_positions, is_near);
  const std::vector<double> key_numbers(key_positions.begin(), key_positions.end());
  const Rows rows{dtype, out.data(), encoding_.num_heads * queries, keys, keys};
  write_rows(rows, [&](std::int64_t row, std::byte* place, LineWriter& writer) {
    const Slope& slope = slopes_[static_cast<std::size_t>(row / queries)];
    const std::int64_t query = query_positions[static_cast<std::size_t>(row % queries)];
    // A row is made some keys at a time, in a buffer that stays in the first-level cache unless it is the table itself.
    constexpr std::int64_t together = 1024;
    alignas(64) std::array<std::byte, together * sizeof(double)> buffer;
    std::vector<Stretch> open;
    for (std::int64_t first = 0; first < keys; first += together) {
      const std::int64_t count = std::min(together, keys - first);
      std::byte* const there = place + static_cast<std::size_t>(first) * width;
      std::byte* const made = writer.caching() == Caching::kept ? there : buffer.data();
      const auto numbers =
          std::span(key_numbers).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
      open.clear();
      if (near) {
        using Kind = AlibiSlope::Kind;
        const Kind kind = is_power(slope)    ? Kind::power_of_two
                          : is_double(slope) ? Kind::other_double
                                             : Kind::irrational;
        const AlibiSlope of_head{kind, slope.high, slope.low};
        const auto number = static_cast<double>(query);
        fill_alibi_row({dtype, of_head, encoding_.mask, encoding_.form, number, numbers, made}, open);
      } else {
        open.push_back({0, count});
      }
      for (const Stretch& stretch : open) {
        for (std::int64_t i = stretch.first; i < stretch.end; ++i) {
          const std::int64_t key = key_positions[static_cast<std::size_t>(first + i)];
          double value = -std::numeric_limits<double>::infinity();
          if (encoding_.mask == Mask::symmetric || key <= query) {
            const std::int64_t distance = key <= query ? query - key : key - query;
            value = product(slope, encoding_.form == AlibiForm::key_index ? key : -distance, dtype);
          }
          store(dtype, value, made + static_cast<std::size_t>(i) * width);
        }
      }
      writer.write(there, made, static_cast<std::size_t>(count) * width);
    }
  });
}

Tensor AlibiEncoder::bias(std::span<const std::int64_t> query_positions, std::span<const std::int64_t> key_positions,
                          Dtype dtype) const {
  Tensor matrices = Tensor::zeros(dtype, {encoding_.num_heads, std::ssize(query_positions), std::ssize(key_positions)});
  bias(query_positions, key_positions, dtype, matrices.data);
  return matrices;
}

}  // namespace sextant
