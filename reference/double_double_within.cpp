#include "reference/double_double_within.hpp"

#include <algorithm>
#include <cmath>

namespace sextant::reference {
namespace {

// Covers the roundings of an error's own few operations, 2^-50 of it, with room.
constexpr double margin = 1 + 0x1p-40;
// Covers what underflow takes from the exactness of a product and its parts: each loses at most 2^-1074.
constexpr double underflow = 0x1p-1060;

// a + b exactly (Knuth 1969); a = high and b = low of the result again make |low| <= 2^-53 |high|.
DoubleDoubleWithin two_sum(double a, double b, double error) {
  const double sum = a + b;
  const double b_part = sum - a;
  return {sum, (a - (sum - b_part)) + (b - b_part), error};
}

}  // namespace

DoubleDoubleWithin DoubleDoubleWithin::of(const Enclosure& enclosure) {
  const double high = mpfr_get_d(enclosure.lower_end(), MPFR_RNDN);
  const Enclosure rest = enclosure - Enclosure(high, enclosure.precision());
  const double low = mpfr_get_d(rest.lower_end(), MPFR_RNDN);
  return {high, low, abs(rest - Enclosure(low, enclosure.precision())).upper()};
}

// The highs' sum is exact; the lows' sum, at most u (|a| + |b|), and what is left of the highs', at most u |sum|, are
// added with two roundings: u^2 (|a| + |b|) and 2 u^2 (|a| + |b|), first order. 2^-104 is 4 u^2.
DoubleDoubleWithin operator+(const DoubleDoubleWithin& a, const DoubleDoubleWithin& b) {
  const DoubleDoubleWithin sum = two_sum(a.high, b.high, 0);
  return two_sum(sum.high, sum.low + (a.low + b.low),
                 margin * (a.error + b.error + 0x1p-104 * (std::fabs(a.high) + std::fabs(b.high))));
}

DoubleDoubleWithin operator-(const DoubleDoubleWithin& a, const DoubleDoubleWithin& b) {
  return a + DoubleDoubleWithin{-b.high, -b.low, b.error};
}

// The highs' product is exact as product + rest. In units of u^2 |product|: the two mixed products are rounded, 1 each,
// and so is their sum, at most 2 u, by 2; added to rest, 3; the product of the lows, left out, is 1: 8 of them, and
// 2^-102 is 16.
DoubleDoubleWithin operator*(const DoubleDoubleWithin& a, const DoubleDoubleWithin& b) {
  const double product = a.high * b.high;
  const double rest = std::fma(a.high, b.high, -product);
  const double mixed = rest + (a.high * b.low + a.low * b.high);
  // (|a| + a.error) (|b| + b.error) - |a| |b|, |a| <= |a.high| (1 + u).
  const double inherited = std::fabs(a.high) * b.error + a.error * (std::fabs(b.high) + b.error);
  return two_sum(product, mixed, margin * (inherited + 0x1p-102 * std::fabs(product) + underflow));
}

Bounds magnitude(const DoubleDoubleWithin& x) {
  const double size = std::fabs(x.high + x.low);
  const double slack = 0x1p-52 * size + margin * x.error;
  return {std::max(0.0, size - slack), size + slack};
}

}  // namespace sextant::reference
