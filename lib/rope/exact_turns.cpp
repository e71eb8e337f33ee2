#include "lib/rope/exact_turns.hpp"

#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <numeric>

namespace sextant {
namespace {

using boost::multiprecision::cpp_int;

cpp_int power(std::int64_t base, std::int64_t exponent) { return pow(cpp_int(base), static_cast<unsigned>(exponent)); }

// 1/w of pair i, theta^(2i/n), where it is rational: in lowest terms theta^(a/b) is if and only if theta is the b-th
// power of a rational number; m 2^e with an odd m is, if m is that of a whole number and b divides e. Then it has no
// more bits than theta and no greater exponent: it is a double.
std::optional<double> rational_divisor(double theta, std::int64_t i, std::int64_t n) {
  if (i == 0 || theta == 1) return 1;
  const std::int64_t common = std::gcd(2 * i, n);
  const std::int64_t a = 2 * i / common;
  const std::int64_t b = n / common;
  int exponent = 0;
  auto odd = static_cast<std::int64_t>(std::ldexp(std::frexp(theta, &exponent), 53));
  exponent -= 53;
  while (odd % 2 == 0) {
    odd /= 2;
    ++exponent;
  }
  if (exponent % b != 0) return std::nullopt;
  std::int64_t root = 1;
  if (odd > 1) {
    if (b > 53) return std::nullopt;
    root = std::llround(std::pow(static_cast<double>(odd), 1 / static_cast<double>(b)));
    if (power(root, b) != odd) return std::nullopt;
  }
  return std::ldexp(static_cast<double>(power(root, a)), static_cast<int>(exponent / b * a));
}

}  // namespace

ExactTurns::ExactTurns(const Ladders& ladders) {
  if (ladders.ladders.front().extent == 0) return;
  for (const auto& [ladder, index] : ladders.places) {
    const auto& [rope, extent] = ladders.ladders[static_cast<std::size_t>(ladder)];
    const auto divisor = rational_divisor(rope.rope_theta, index, rotary_width(rope));
    parts_.push_back(divisor ? std::optional(Part{extent, *divisor}) : std::nullopt);
  }
}

std::optional<int> ExactTurns::twenty_fourths(std::int64_t pair, std::int64_t q) const {
  if (parts_.empty() || !parts_[static_cast<std::size_t>(pair)]) return std::nullopt;
  const auto& [extent, divisor] = *parts_[static_cast<std::size_t>(pair)];
  int exponent = 0;
  const auto whole = static_cast<std::int64_t>(std::ldexp(std::frexp(divisor, &exponent), 53));
  exponent -= 53;
  cpp_int numerator = cpp_int(24) * q;
  cpp_int denominator = cpp_int(extent) * whole;
  exponent < 0 ? numerator <<= static_cast<unsigned>(-exponent) : denominator <<= static_cast<unsigned>(exponent);
  if (numerator % denominator != 0) return std::nullopt;
  const auto rest = static_cast<int>(cpp_int(numerator / denominator % 24));
  return rest < 0 ? rest + 24 : rest;
}

}  // namespace sextant
