// Whether base^(a/b) is rational, decided in whole numbers, and then the double that it is; why stands at the function.

#include "lib/kernels/rational_power.hpp"

#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <numeric>

namespace sextant {
namespace {

using boost::multiprecision::cpp_int;

cpp_int power(std::int64_t base, std::int64_t exponent) { return pow(cpp_int(base), static_cast<unsigned>(exponent)); }

}  // namespace

// In lowest terms base^(a/b) is rational if and only if base is the b-th power of a rational number; m 2^e with an odd
// m is, if m is that of a whole number and b divides e. Then it has no more bits than the base and no greater exponent:
// it is a double.
std::optional<double> rational_power(double base, std::int64_t numerator, std::int64_t denominator) {
  if (numerator == 0 || base == 1) return 1;
  const std::int64_t common = std::gcd(numerator, denominator);
  const std::int64_t a = numerator / common;
  const std::int64_t b = denominator / common;
  int exponent = 0;
  auto odd = static_cast<std::int64_t>(std::ldexp(std::frexp(base, &exponent), 53));
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

}  // namespace sextant
