// The rounding that both ends of an interval have, if they have one: each end, a sum of two doubles, is rounded to odd
// in double, so that its rounding to a narrower dtype is that of the end itself (Boldo and Melquiond 2008, IEEE
// Transactions on Computers 57(4), theorem 1).

#include "lib/kernels/certify.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace sextant {
namespace {

// high + rest rounded to odd: high where rest is 0, else the one of the two doubles around the sum whose last bit is 1.
// A narrower dtype rounds it as it would the sum itself: each of its ties is a double with a last bit of 0.
double odd_sum(double high, double rest) {
  const double sum = high + rest;
  const double part = sum - high;
  const double error = (high - (sum - part)) + (rest - part);  // exact (Knuth's TwoSum)
  if (error == 0 || (std::bit_cast<std::uint64_t>(sum) & 1U) != 0) return sum;
  return std::nextafter(sum,
                        error > 0 ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity());
}

}  // namespace

std::optional<double> round_interval(Dtype dtype, double high, double low, double error) {
  // Doubling covers the rounding of low -+ error, as long as the error is not lost in it.
  const double reach = 2 * error + 0x1p-52 * std::fabs(low);
  const double rest_below = low - reach;
  const double rest_above = low + reach;
  const double below = dtype == Dtype::float64 ? high + rest_below : round_to(dtype, odd_sum(high, rest_below));
  const double above = dtype == Dtype::float64 ? high + rest_above : round_to(dtype, odd_sum(high, rest_above));
  const bool apart = below != above || std::signbit(below) != std::signbit(above);
  return apart ? std::nullopt : std::optional(below);
}

}  // namespace sextant
