#include "reference/relative_bias.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/multiprecision/cpp_int.hpp>
#include <stdexcept>

namespace sextant::reference {
namespace {

using boost::multiprecision::cpp_int;

// ln(n/e) / ln(d/e) * steps >= k, for 0 < e <= n < d and 0 <= k <= steps: (n/e)^steps >= (d/e)^k, without fractions.
bool reaches(std::int64_t n, std::int64_t e, std::int64_t d, std::int64_t steps, std::int64_t k) {
  const auto power = [](std::int64_t base, std::int64_t exponent) {
    return cpp_int(pow(cpp_int(base), static_cast<unsigned>(exponent)));
  };
  return power(n, steps) >= power(d, k) * power(e, steps - k);
}

// floor(ln(n/e) / ln(d/e) * steps). An enclosure settles it nearly always; where it reaches over an integer, which it
// does at each precision if the real number is that integer (n = 16 of e = 8, d = 128), powers are compared.
std::int64_t logarithmic_step(std::int64_t n, std::int64_t e, std::int64_t d, std::int64_t steps) {
  const auto log_ratio = [e](std::int64_t value) {
    return log(Enclosure(value, first_precision) / Enclosure(e, first_precision));
  };
  const Enclosure real = log_ratio(n) / log_ratio(d) * Enclosure(steps, first_precision);
  std::int64_t step = std::max(0L, mpfr_get_si(real.lower_end(), MPFR_RNDD));
  const std::int64_t last = mpfr_get_si(real.upper_end(), MPFR_RNDD);
  while (step < last && reaches(n, e, d, steps, step + 1)) ++step;
  return step;
}

}  // namespace

std::int64_t bucket(const RelativeBias& encoding, std::int64_t relative) {
  const std::int64_t buckets = directed_buckets(encoding);
  const std::int64_t exact = buckets / 2;
  const std::int64_t start = encoding.bidirectional && relative > 0 ? buckets : 0;
  // The most negative integer has no negative; every distance from max_distance on shares the last bucket anyway.
  const std::int64_t past = relative <= -encoding.max_distance ? encoding.max_distance : -relative;
  const std::int64_t distance = relative <= 0 ? past : encoding.bidirectional ? relative : 0;
  if (distance < exact) return start + distance;
  if (distance >= encoding.max_distance) return start + buckets - 1;
  return start +
         std::min(buckets - 1, exact + logarithmic_step(distance, exact, encoding.max_distance, buckets - exact));
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
