#include "reference/relative_bias.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
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

std::int64_t rounded(double steps, Rounded way) {
  return static_cast<std::int64_t>(way == Rounded::down ? std::floor(steps) : std::ceil(steps));
}

// ln(n/e) / ln(d/e) * steps, rounded to an integer: the logarithmic step of a distance n.
struct LogarithmicPlace {
  std::int64_t n;
  std::int64_t e;
  std::int64_t d;
  std::int64_t steps;
  Rounded way;
};

// Its logarithms and the steps, unrounded, in double.
struct StepsInDouble {
  double of_n;
  double of_d;
  double steps;
};
StepsInDouble steps_in_double(const LogarithmicPlace& place) {
  const double of_n = std::log(static_cast<double>(place.n) / static_cast<double>(place.e));
  const double of_d = std::log(static_cast<double>(place.d) / static_cast<double>(place.e));
  return {of_n, of_d, of_n / of_d * static_cast<double>(place.steps)};
}

// logarithmic_step, where double tells it: at nearly every distance, for a thousandth of an enclosure's time. With
// logarithms that libm gives to within r = 2^-44 of themselves (256 ULP: no libm in use is that far off) and quotients
// of at most u = 2^-53, ln of the rounded quotient n/e is off by at most 1.01 u, thus of_n by of_n (r + 2 u / of_n),
// of_d likewise, and the steps, of three more roundings, by steps (2.1 r + 3 u (1 / of_n + 1 / of_d)) where part below
// is at most 1/8. What is compared is more than that.
std::optional<std::int64_t> step_in_double(const LogarithmicPlace& place) {
  constexpr std::int64_t exact = std::int64_t{1} << 53;
  if (place.n <= place.e || place.d <= place.e || place.n > exact || place.d > exact || place.steps > exact)
    return std::nullopt;
  const auto [of_n, of_d, steps] = steps_in_double(place);
  const double part = 0x1p-42 + 0x1p-50 * (1 / of_n + 1 / of_d);
  const double beyond = steps - std::floor(steps);
  if (part > 0.125 || std::min(beyond, 1 - beyond) <= part * steps) return std::nullopt;
  return rounded(steps, place.way);
}

// ln(n/e) / ln(d/e) * steps, e <= n <= d, rounded to an integer. Where the real number is an integer, its enclosure
// reaches over it at each precision (n = 16 of e = 8, d = 128). Where it is not k, the powers of is_whole_step, without
// fractions, are different integers below 2^(2^22), whose logarithms differ by more than the inverse of that: some
// precision tells.
std::int64_t logarithmic_step(std::int64_t n, std::int64_t e, std::int64_t d, std::int64_t steps, Rounded way) {
  if (const auto far_from_integers = step_in_double({n, e, d, steps, way})) return *far_from_integers;
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

// Operations whose results are rounded to nearest in a format of so many bits.
class Format {
 public:
  explicit Format(double roundoff) { mpfr_init2(value_, -std::ilogb(roundoff)); }
  Format(const Format&) = delete;
  Format& operator=(const Format&) = delete;
  ~Format() { mpfr_clear(value_); }

  double number(double value) {
    mpfr_set_d(value_, value, MPFR_RNDN);
    return mpfr_get_d(value_, MPFR_RNDN);
  }
  double logarithm(double value) {
    mpfr_set_d(value_, value, MPFR_RNDN);
    mpfr_log(value_, value_, MPFR_RNDN);
    return mpfr_get_d(value_, MPFR_RNDN);
  }

 private:
  mpfr_t value_;
};

// What the released formulas give, if it is another step. A quotient and a product of two numbers of at most 24 bits,
// rounded to double and then to as many, are rounded as once (Figueroa 1995).
std::optional<std::int64_t> step_of_the_formula(const LogarithmicPlace& place, double roundoff, std::int64_t step) {
  Format format(roundoff);
  const double e = format.number(static_cast<double>(place.e));
  const double at = format.logarithm(format.number(static_cast<double>(place.n)) / e);
  const double whole = static_cast<double>(place.d) / static_cast<double>(place.e);
  const auto differs = [&](double constant) -> std::optional<std::int64_t> {
    const double steps = format.number(format.number(at / constant) * static_cast<double>(place.steps));
    const std::int64_t given = rounded(steps, place.way);
    return given == step ? std::nullopt : std::optional(given);
  };
  // make_log_bucket_position and ONNX Runtime take all of it in the format; Mesh TensorFlow and transformers' T5 round
  // float64's constant.
  if (const auto given = differs(format.logarithm(format.number(whole)))) return given;
  return place.way == Rounded::down ? differs(format.number(std::log(whole))) : std::nullopt;
}

// docs/proofs/accuracy-classes.md, step 28.
std::optional<std::int64_t> step_beside(const LogarithmicPlace& place, const BucketArithmetic& arithmetic) {
  const double u = arithmetic.roundoff;
  const auto [of_n, of_d, steps] = steps_in_double(place);
  const double most = std::min(steps, static_cast<double>(place.steps) + 1);
  const double part = u * (3 / of_n + 1 / of_d + 4 * arithmetic.libm + 3);
  if (part >= 0.5) return std::nullopt;
  const double bound = (steps * part + u * (most + static_cast<double>(place.e))) / (1 - part);
  const auto k = static_cast<std::int64_t>(std::llround(most));
  // A few roundings of double besides.
  const double distance = std::fabs(steps - static_cast<double>(k));
  constexpr double of_double = 0x1p-48;
  if (k < 1 || k > place.steps || distance > bound + of_double * steps) return std::nullopt;
  if (is_whole_step(place.n, place.e, place.d, place.steps, k)) {
    const auto given = step_of_the_formula(place, u, k);
    return given ? given : step_of_the_formula(place, std::min(u, unit_roundoff(Dtype::float64)), k);
  }
  const Precision precision{256};
  const auto log_ratio = [&](std::int64_t value) {
    return log(Enclosure(value, precision) / Enclosure(place.e, precision));
  };
  const Enclosure beyond =
      log_ratio(place.n) / log_ratio(place.d) * Enclosure(place.steps, precision) - Enclosure(k, precision);
  if (certainly_above(abs(beyond), Enclosure(bound, precision))) return std::nullopt;
  const bool is_above = beyond.lower() > 0;
  if (place.way == Rounded::down) return is_above ? k - 1 : k;
  return is_above ? k : k + 1;
}

// e(n) of the rules other than T5's. Domain: n >= 0.
std::int64_t rows_from_the_middle(const RelativeBias& encoding, std::int64_t n) {
  const std::int64_t s = directed_buckets(encoding);
  if (n >= encoding.max_distance) return s;
  const std::int64_t m = s / 2;
  if (encoding.buckets == BucketRule::clipped || n <= m) return n;
  return m + logarithmic_step(n, m, encoding.max_distance - 1, m - 1, Rounded::up);
}

// The row of e(n), of a key on the side of `relative`.
std::int64_t row_of(const RelativeBias& encoding, std::int64_t relative, std::int64_t from_the_middle) {
  const std::int64_t s = directed_buckets(encoding);
  return relative > 0 ? s - from_the_middle : std::min(s + from_the_middle, 2 * s - 1);
}

std::int64_t row_of_two_directions(const RelativeBias& encoding, std::int64_t relative) {
  // The most negative integer has no negative.
  const std::int64_t distance = relative > 0                         ? relative
                                : relative <= -encoding.max_distance ? encoding.max_distance
                                                                     : -relative;
  return row_of(encoding, relative, rows_from_the_middle(encoding, distance));
}

std::optional<std::int64_t> row_beside(const RelativeBias& encoding, std::int64_t relative,
                                       const BucketArithmetic& arithmetic) {
  const std::int64_t m = directed_buckets(encoding) / 2;
  if (encoding.buckets == BucketRule::clipped || (relative >= -m && relative <= m)) return std::nullopt;
  // Past twice max_distance all rows are the last.
  const std::int64_t far = 2 * encoding.max_distance;
  if (relative < -far || relative > far) return std::nullopt;
  const auto step = step_beside({std::abs(relative), m, encoding.max_distance - 1, m - 1, Rounded::up}, arithmetic);
  return step ? std::optional(row_of(encoding, relative, m + *step)) : std::nullopt;
}

// T5's distance; that of the most negative integer, which has no negative, is past max_distance as it is.
std::int64_t distance_of(const RelativeBias& encoding, std::int64_t relative) {
  if (relative <= 0) return relative <= -encoding.max_distance ? encoding.max_distance : -relative;
  return encoding.bidirectional ? relative : 0;
}

}  // namespace

std::optional<std::int64_t> bucket_beside(const RelativeBias& encoding, std::int64_t relative,
                                          const BucketArithmetic& arithmetic) {
  if (arithmetic.roundoff == 0) return std::nullopt;
  std::optional<std::int64_t> other;
  if (encoding.buckets != BucketRule::t5) {
    other = row_beside(encoding, relative, arithmetic);
  } else {
    const std::int64_t buckets = directed_buckets(encoding);
    const std::int64_t exact = buckets / 2;
    const bool is_mirrored = encoding.later_keys == LaterKeys::mirrored && relative > 0;
    const std::int64_t distance = distance_of(encoding, is_mirrored ? -relative : relative);
    if (distance <= exact || distance >= encoding.max_distance) return std::nullopt;
    const auto step = step_beside({distance, exact, encoding.max_distance, buckets - exact, Rounded::down}, arithmetic);
    const std::int64_t start = encoding.bidirectional && relative > 0 ? buckets : 0;
    if (step) other = start + std::min(buckets - 1, exact + *step);
  }
  return other && *other != bucket(encoding, relative) ? other : std::nullopt;
}

std::int64_t bucket(const RelativeBias& encoding, std::int64_t relative) {
  if (encoding.buckets != BucketRule::t5) return row_of_two_directions(encoding, relative);
  // Mirrored, a key after the query is one as far before it.
  if (encoding.later_keys == LaterKeys::mirrored && relative > 0) relative = -relative;
  const std::int64_t buckets = directed_buckets(encoding);
  const std::int64_t exact = buckets / 2;
  const std::int64_t start = encoding.bidirectional && relative > 0 ? buckets : 0;
  const std::int64_t distance = distance_of(encoding, relative);
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
