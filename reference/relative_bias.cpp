#include "reference/relative_bias.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace sextant::reference {
namespace {

// a^m = b^n, of positive integers and exponents that are not negative. Of two powers above 1 with m >= n, a^n divides
// b^n only if a divides b; the quotient by a^n is a^(m-n) = (b/a)^n. Each round halves a or b at least.
bool are_equal_powers(std::int64_t a, std::int64_t m, std::int64_t b, std::int64_t n) {
  while (a > 1 && m > 0 && b > 1 && n > 0) {
    if (m < n) {
      std::swap(a, b);
      std::swap(m, n);
    }
    if (b % a != 0) return false;
    b /= a;
    m -= n;
  }
  return (a == 1 || m == 0) && (b == 1 || n == 0);
}

// ln(n/e) / ln(d/e) * steps = k: (n/e)^steps = (d/e)^k. Powers of fractions in lowest terms are in lowest terms, so
// that numerators and denominators are equal each.
bool is_whole_step(std::int64_t n, std::int64_t e, std::int64_t d, std::int64_t steps, std::int64_t k) {
  const std::int64_t of_n = std::gcd(n, e);
  const std::int64_t of_d = std::gcd(d, e);
  return are_equal_powers(n / of_n, steps, d / of_d, k) && are_equal_powers(e / of_n, steps, e / of_d, k);
}

// Which neighbour of a number between two integers is meant.
enum class Rounded { down, up };

// ln(n/e) / ln(d/e) * steps, e <= n <= d, rounded to an integer. Where the real number is an integer, its enclosure
// reaches over it at each precision (n = 16 of e = 8, d = 128). Where it is not k, the powers of is_whole_step, without
// fractions, are different integers below 2^(2^22), whose logarithms differ by more than the inverse of that: some
// precision tells.
std::int64_t logarithmic_step(std::int64_t n, std::int64_t e, std::int64_t d, std::int64_t steps, Rounded way) {
  for (Precision precision = first_precision;; precision.bits *= 2) {
    const auto log_ratio = [&](std::int64_t value) {
      return log(Enclosure(value, precision) / Enclosure(e, precision));
    };
    const Enclosure real = log_ratio(n) / log_ratio(d) * Enclosure(steps, precision);
    const std::int64_t least = mpfr_get_si(real.lower_end(), MPFR_RNDD);
    const std::int64_t greatest = mpfr_get_si(real.upper_end(), MPFR_RNDD);
    if (is_whole_step(n, e, d, steps, greatest)) return greatest;
    if (least == greatest) return way == Rounded::down ? greatest : greatest + 1;
  }
}

// e(n) of the rules other than T5's. Domain: n >= 0.
std::int64_t rows_from_the_middle(const RelativeBias& encoding, std::int64_t n) {
  const std::int64_t s = directed_buckets(encoding);
  if (n >= encoding.max_distance) return s;
  const std::int64_t m = s / 2;
  if (encoding.buckets == BucketRule::clipped || n <= m) return n;
  return m + logarithmic_step(n, m, encoding.max_distance - 1, m - 1, Rounded::up);
}

std::int64_t row_of_two_directions(const RelativeBias& encoding, std::int64_t relative) {
  const std::int64_t s = directed_buckets(encoding);
  if (relative > 0) return s - rows_from_the_middle(encoding, relative);
  // The most negative integer has no negative.
  const std::int64_t before = relative <= -encoding.max_distance ? encoding.max_distance : -relative;
  return std::min(s + rows_from_the_middle(encoding, before), 2 * s - 1);
}

}  // namespace

std::int64_t bucket(const RelativeBias& encoding, std::int64_t relative) {
  if (encoding.buckets != BucketRule::t5) return row_of_two_directions(encoding, relative);
  // Mirrored, a key after the query is one as far before it.
  if (encoding.later_keys == LaterKeys::mirrored && relative > 0) relative = -relative;
  const std::int64_t buckets = directed_buckets(encoding);
  const std::int64_t exact = buckets / 2;
  const std::int64_t start = encoding.bidirectional && relative > 0 ? buckets : 0;
  // The most negative integer has no negative; every distance from max_distance on shares the last bucket anyway.
  const std::int64_t past = relative <= -encoding.max_distance ? encoding.max_distance : -relative;
  const std::int64_t distance = relative <= 0 ? past : encoding.bidirectional ? relative : 0;
  if (distance < exact) return start + distance;
  if (distance >= encoding.max_distance) return start + buckets - 1;
  return start + std::min(buckets - 1, exact + logarithmic_step(distance, exact, encoding.max_distance, buckets - exact,
                                                                Rounded::down));
}

Enclosure bias(const RelativeBias& encoding, const Tensor& weight, std::int64_t query, std::int64_t key,
               std::int64_t head, Precision precision) {
  if (weight.shape.size() != 2 || weight.shape[0] != encoding.num_buckets) {
    throw std::invalid_argument(fmt::format("relative_bias: weight has shape {}, expected [{}, heads]",
                                            shape_text(weight.shape), encoding.num_buckets));
  }
  if (head < 0 || head >= weight.shape[1]) throw std::out_of_range(fmt::format("relative_bias: no head {}", head));
  return {weight.at(bucket(encoding, key - query) * weight.shape[1] + head), precision};
}

}  // namespace sextant::reference
