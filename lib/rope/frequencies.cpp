// The frequencies of a scaled ladder as integers in units of 2^-192 turn, and the attention factor.
//
//   1. Frequencies are computed with their errors (wide_frequencies.hpp) at 256, 1024 and 5000 bits until each is known
//      to 2^-200 turn.
//   2. An attention factor that is rational is kept as a ratio, since results at position 0 may then be ties; which
//      ones are is decided in integers (rational_root, rational_factor).
//
// docs/proofs/rope.md, steps 15 to 19.

#include "lib/rope/frequencies.hpp"

#include <cmath>
#include <numeric>

#include "lib/kernels/correct_rounding.hpp"
#include "lib/kernels/wide.hpp"
#include "lib/numeric/standard_arithmetic.hpp"
#include "lib/rope/wide_frequencies.hpp"

namespace sextant {
namespace {

using boost::multiprecision::cpp_int;

// The nearest multiples of 2^-192 turn, or nothing where a frequency is not known to 2^-200 turn: whole turns cost
// precision, and so does a ramp whose ends lie close together. Besides the error of w there are those of pi and two
// operations, (2^9 + 3) e of the quotient.
template <class Real>
std::optional<std::vector<Turns>> turns_of(const std::vector<Approximation<Real>>& radians) {
  const Real unit = ldexp(Real(1), 192) / wide_two_pi<Real>();
  const Real limit = ldexp(Real(1), -200);
  std::vector<Turns> turns;
  turns.reserve(radians.size());
  for (const auto& [w, error] : radians) {
    if (!(error + w * ldexp(spacing_at_one<Real>(), 10) < limit)) return std::nullopt;
    turns.emplace_back(Turns(cpp_int(round(w * unit)) & ((cpp_int(1) << 192) - 1)));
  }
  return turns;
}

std::int64_t root_if_square(std::int64_t value) {
  const auto root = static_cast<std::int64_t>(std::llround(std::sqrt(static_cast<double>(value))));
  return root * root == value ? root : 0;
}

// sqrt(1 + ln s / ln L) as a ratio, where it is one. ln s / ln L = j/k in lowest terms says s^k = L^j, so L is a k-th
// power (2^53 >= L >= 2: k <= 53) and j <= 1024 k. Then 1 + j/k is a rational number, whose root is one if both its
// terms are squares. Every other ratio of the logarithms is irrational, by the same token, and transcendental by
// Gelfond's theorem, so that its square is no rational number.
std::optional<Ratio> rational_root(double factor, std::int64_t length) {
  int exponent = 0;
  const auto significand = static_cast<std::int64_t>(std::ldexp(std::frexp(factor, &exponent), 53));
  const double ratio = std::log(factor) / std::log(static_cast<double>(length));
  for (std::int64_t k = 1; k <= 53; ++k) {
    const auto j = static_cast<std::int64_t>(std::llround(ratio * static_cast<double>(k)));
    // The logarithms err by 2^-50 in all, the ratio is below 1025: farther off than this it is not j/k.
    if (std::fabs(ratio * static_cast<double>(k) - static_cast<double>(j)) > 0x1p-30) continue;
    const cpp_int power_of_factor = pow(cpp_int(significand), static_cast<unsigned>(k));
    const cpp_int power_of_length = pow(cpp_int(length), static_cast<unsigned>(j));
    const std::int64_t shift = (exponent - 53) * k;  // s^k = significand^k 2^shift
    const bool equal = shift >= 0 ? (power_of_factor << static_cast<unsigned>(shift)) == power_of_length
                                  : power_of_factor == (power_of_length << static_cast<unsigned>(-shift));
    if (!equal) continue;
    const std::int64_t common = std::gcd(k + j, k);
    const std::int64_t numerator = root_if_square((k + j) / common);
    const std::int64_t denominator = root_if_square(k / common);
    if (numerator == 0 || denominator == 0) return std::nullopt;
    return Ratio{static_cast<double>(numerator), static_cast<double>(denominator)};
  }
  return std::nullopt;
}

std::optional<Ratio> rational_factor(const RopeScaling& scaling, std::int64_t length) {
  if (const auto* yarn = std::get_if<YarnScaling>(&scaling)) {
    if (yarn->attention_factor) return Ratio{*yarn->attention_factor, 1};
    if (yarn->mscale == yarn->mscale_all_dim && yarn->mscale) return Ratio{1, 1};
    // ln s is transcendental for every double s but 1 (Lindemann), and m a fraction linear in it.
    return yarn->factor == 1 ? std::optional(Ratio{1, 1}) : std::nullopt;
  }
  if (const auto* longrope = std::get_if<LongropeScaling>(&scaling)) {
    if (longrope->short_mscale) {
      const bool is_short = length <= longrope->original_max_position_embeddings;
      return Ratio{is_short ? *longrope->short_mscale : *longrope->long_mscale, 1};
    }
    if (longrope->attention_factor) return Ratio{*longrope->attention_factor, 1};
    return rational_root(*longrope->factor, longrope->original_max_position_embeddings);
  }
  return Ratio{1, 1};
}

}  // namespace

std::vector<Turns> rope_turns(const Ladder& ladder, std::int64_t length) {
  const StandardArithmetic arithmetic;
  const auto turns = until_decided([&]<class Real>() -> std::optional<std::vector<Turns>> {
    const WideFrequencies<Real> frequencies(ladder, length);
    return frequencies.decided() ? turns_of(frequencies.all_radians()) : std::nullopt;
  });
  if (!turns) throw std::domain_error("rope_turns: 5000 bits do not tell a frequency");
  return *turns;
}

AttentionFactor attention_factor(const Rope& encoding, std::int64_t length) {
  const StandardArithmetic arithmetic;
  fill_wide_constants();
  const std::optional<Ratio> rational = rational_factor(encoding.rope_scaling, length);
  using Real = Wide<256>;
  const Real a = rational ? Real(rational->numerator) / rational->denominator : wide_attention_factor<Real>(encoding);
  const auto high = static_cast<double>(a);
  return {high, static_cast<double>(Real(a - high)), rational};
}

}  // namespace sextant
