#include <algorithm>
#include <cmath>
#include <functional>

#include "attack/truth/truths.hpp"

// ALiBi, Press et al. 2021, and its released code (get_slopes); T5's buckets, Raffel et al. 2019, and mesh_tensorflow's
// _relative_position_bucket.

namespace sextant::attack {

SlopeExponent alibi_exponent(const Alibi& encoding, std::int64_t head) {
  const std::int64_t heads = encoding.num_heads;
  const std::int64_t most = encoding.bias_max;
  if (encoding.slopes == AlibiSlopes::geometric) return {-most * (head + 1), heads};
  // get_slopes: for a power of two 2^(-8 (h + 1) / n), 8 the bias_max; otherwise those of the nearest power of two
  // below, then get_slopes(2 n')[0::2].
  std::int64_t power = 1;
  while (2 * power <= heads) power *= 2;
  if (head < power) return {-most * (head + 1), power};
  const std::int64_t among_twice = 2 * (head - power);
  return {-most * (among_twice + 1), 2 * power};
}

// 2 to the exponent is a point where the quotient is whole, which division then gives exactly.
Interval alibi_slope(const Alibi& encoding, std::int64_t head, long bits) {
  const SlopeExponent exponent = alibi_exponent(encoding, head);
  const auto real = [&](long b) { return exp2(exactly(b, exponent.numerator) / exactly(b, exponent.denominator)); };
  if (!encoding.slope_dtype) return real(bits);
  const ElementFormat format = element_format(*encoding.slope_dtype);
  return exactly(bits, value_of(format, nearest(format, real)));
}

namespace {

// A head's slope: in long double, within the part `error` of itself, and of any precision.
struct Slope {
  long double quick;
  long double error;
  std::function<Interval(long bits)> exact;
};

Slope slope_of(const Alibi& encoding, std::int64_t head) {
  if (encoding.slope_dtype) {
    // A point, of as few bits as a double has.
    const double value = alibi_slope(encoding, head, first_precision).low.nearest();
    return {value, quick_error, [value](long bits) { return exactly(bits, value); }};
  }
  const auto [numerator, denominator] = alibi_exponent(encoding, head);
  // The exponent, of up to 24, is rounded: by less than 2^-59 of the value.
  return {std::exp2(static_cast<long double>(numerator) / static_cast<long double>(denominator)), 4 * quick_error,
          [&encoding, head](long bits) { return alibi_slope(encoding, head, bits); }};
}

void judge_product(std::int64_t element, const Slope& slope, std::int64_t factor, Checker& checker) {
  if (factor == 0) return checker.same(element, 0, "+0 where the bias is 0");
  const long double value = slope.quick * static_cast<long double>(factor);
  checker.nearest(element, Quick{value, slope.error * std::abs(value)},
                  [&](long bits) { return slope.exact(bits) * exactly(bits, factor); });
}

}  // namespace

void judge_encoding(const Alibi& encoding, const Case& example, Checker& checker) {
  if (example.operation == Operation::slope) {
    for (std::int64_t head = 0; head < encoding.num_heads; ++head)
      judge_product(head, slope_of(encoding, head), 1, checker);
    return;
  }
  const Bits masked = checker.format().sign() | checker.format().infinity();
  std::int64_t element = 0;
  for (std::int64_t head = 0; head < encoding.num_heads; ++head) {
    const Slope slope = slope_of(encoding, head);
    for (const std::int64_t query : example.positions) {
      for (const std::int64_t key : example.keys) {
        if (encoding.mask == Mask::causal && key > query) {
          checker.same(element++, masked, "-infinity under the mask");
          continue;
        }
        const std::int64_t distance = key <= query ? query - key : key - query;
        judge_product(element++, slope, encoding.form == AlibiForm::key_index ? key : -distance, checker);
      }
    }
  }
}

namespace {

// How (n / exact)^m compares with (most / exact)^k, in integers: n^m exact^k with most^k exact^m.
int compared(std::int64_t n, std::int64_t exact, std::int64_t m, std::int64_t most, std::int64_t k) {
  const long enough = 64 * (m + k + 2);
  const auto product = [&](std::int64_t a, std::int64_t of_a, std::int64_t b, std::int64_t of_b) {
    Real result(enough);
    Real power(enough);
    mpfr_set_sj(result.get(), a, MPFR_RNDN);
    mpfr_pow_ui(result.get(), result.get(), static_cast<unsigned long>(of_a), MPFR_RNDN);
    mpfr_set_sj(power.get(), b, MPFR_RNDN);
    mpfr_pow_ui(power.get(), power.get(), static_cast<unsigned long>(of_b), MPFR_RNDN);
    mpfr_mul(result.get(), result.get(), power.get(), MPFR_RNDN);
    return result;
  };
  return mpfr_cmp(product(n, m, exact, k).get(), product(most, k, exact, m).get());
}

// DeBERTa's and Shaw et al.'s: rows after the middle one, of a distance. log2 of the distances' quotients, whose steps
// are counted from the first whole number that is not below them.
std::int64_t rows_of_distance(const RelativeBias& encoding, std::uint64_t size) {
  const std::int64_t span = encoding.num_buckets / 2;
  if (size >= static_cast<std::uint64_t>(encoding.max_distance)) return span;
  const auto n = static_cast<std::int64_t>(size);
  const std::int64_t middle = span / 2;
  if (encoding.buckets == BucketRule::clipped || n <= middle) return n;
  const std::int64_t last = encoding.max_distance - 1;
  const auto part = static_cast<double>(std::log2(static_cast<long double>(n) / static_cast<long double>(middle)) /
                                        std::log2(static_cast<long double>(last) / static_cast<long double>(middle)));
  // Within a thousandth of a step, so that the whole number next to it is the only one in doubt.
  const double steps = part * static_cast<double>(middle - 1);
  const auto near = static_cast<std::int64_t>(std::llround(steps));
  if (std::fabs(steps - static_cast<double>(near)) > 1e-3) return middle + static_cast<std::int64_t>(std::ceil(steps));
  return middle + near + (compared(n, middle, middle - 1, last, near) > 0 ? 1 : 0);
}

}  // namespace

std::int64_t bucket_of(const RelativeBias& encoding, std::int64_t relative) {
  // memory_position - query_position, as mesh_tensorflow names it; unsigned, since the distance of the least integer is
  // none of its own.
  const std::uint64_t size =
      relative < 0 ? 0 - static_cast<std::uint64_t>(relative) : static_cast<std::uint64_t>(relative);
  if (encoding.buckets != BucketRule::t5) {
    const std::int64_t rows = rows_of_distance(encoding, size);
    const std::int64_t span = encoding.num_buckets / 2;
    return relative > 0 ? span - rows : std::min(span + rows, 2 * span - 1);
  }
  std::int64_t buckets = encoding.num_buckets;
  std::int64_t start = 0;
  std::uint64_t distance = relative <= 0 || encoding.later_keys == LaterKeys::mirrored ? size : 0;
  if (encoding.bidirectional) {
    buckets /= 2;
    start = relative > 0 ? buckets : 0;
    distance = size;
  }
  const std::int64_t exact = buckets / 2;
  if (distance < static_cast<std::uint64_t>(exact)) return start + static_cast<std::int64_t>(distance);
  // The k with (max/exact)^k <= (distance/exact)^m < (max/exact)^(k+1), m = buckets - exact; k >= m is the last bucket.
  const std::int64_t m = buckets - exact;
  if (distance >= static_cast<std::uint64_t>(encoding.max_distance)) return start + buckets - 1;
  const auto n = static_cast<std::int64_t>(distance);
  std::int64_t k = 0;
  for (const long bits : {first_precision, 4 * first_precision}) {
    const Interval of_distance = log(exactly(bits, n)) - log(exactly(bits, exact));
    const Interval of_all = log(exactly(bits, encoding.max_distance)) - log(exactly(bits, exact));
    const Interval share = of_distance / of_all * exactly(bits, m);
    Real border(bits);
    mpfr_floor(border.get(), share.high.get());
    k = mpfr_get_sj(border.get(), MPFR_RNDN);
    if (mpfr_lessequal_p(border.get(), share.low.get()) != 0) return start + exact + std::min(m - 1, k);
  }
  return start + exact + std::min(m - 1, compared(n, exact, m, encoding.max_distance, k) >= 0 ? k : k - 1);
}

void ExactTotal::add(Bits element) {
  const double value = value_of(format_, element);
  if (std::isfinite(value)) {
    mpfr_add_d(sum_.get(), sum_.get(), value,
               MPFR_RNDN);  // exact: doubles span 2098 bits, and there are fewer than 2^200 of them
  } else {
    special_ += value;
  }
}

void ExactTotal::judge(std::int64_t element, Checker& checker) const {
  checker.count();
  const Bits got = checker.got(element);
  if (std::isnan(special_)) {
    if (!is_nan(format_, got)) checker.refuse(element, format_.quiet_nan(), "NaN");
    return;
  }
  Bits wanted = mpfr_zero_p(sum_.get()) != 0 ? 0 : rounded(format_, sum_.get());
  if (special_ != 0) wanted = bits_of(format_, special_);
  if (got != wanted) checker.refuse(element, wanted, "nearest value to the exact sum, +0 for zero");
}

void judge_encoding(const RelativeBias& encoding, const Case& example, Checker& checker) {
  const std::int64_t heads = example.heads;
  if (example.operation == Operation::bucket) {
    for (std::int64_t i = 0; i < std::ssize(example.positions); ++i) {
      checker.same(i, static_cast<Bits>(bucket_of(encoding, example.positions[static_cast<std::size_t>(i)])),
                   "the formula's bucket");
    }
    return;
  }
  std::vector<ExactTotal> totals;
  const bool gradient = example.operation == Operation::grad_weight;
  if (gradient) totals.assign(static_cast<std::size_t>(encoding.num_buckets * heads), ExactTotal(checker.format()));
  std::int64_t element = 0;
  std::vector<std::int64_t> buckets;
  for (const std::int64_t query : example.positions) {
    for (const std::int64_t key : example.keys) buckets.push_back(bucket_of(encoding, key - query));
  }
  for (std::int64_t head = 0; head < heads; ++head) {
    for (const std::int64_t bucket : buckets) {
      const auto index = static_cast<std::size_t>(bucket * heads + head);
      if (gradient) {
        totals[index].add(example.elements[static_cast<std::size_t>(element++)]);
      } else {
        checker.same(element++, example.elements[index], "the weight's bits");
      }
    }
  }
  for (std::size_t i = 0; i < totals.size(); ++i) totals[i].judge(static_cast<std::int64_t>(i), checker);
}

}  // namespace sextant::attack
