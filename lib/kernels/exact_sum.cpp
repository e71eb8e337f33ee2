// A sum of doubles in fixed point, which rounds nothing before the end.
//
//   1. A term is its significand of 53 bits, shifted to its place among digits of 32 bits: three digits change.
//   2. Digits have 64 bits, so that 2^29 terms go by before carries are propagated.
//   3. At the end the sum is made positive, its leading 64 bits are read, and whether anything stands below them; they
//      are rounded to nearest, ties to even, in integers.
//
// Neal 2015 (arXiv 1505.05571) has the method; why no digit overflows is said beside carry().

#include "lib/kernels/exact_sum.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace sextant {
namespace {

constexpr int lowest_exponent = -1074;
constexpr std::int64_t digit_mask = 0xFFFFFFFF;

}  // namespace

void ExactSum::add(double term) {
  if (!std::isfinite(term)) {
    special_ += term;
    return;
  }
  const auto bits = std::bit_cast<std::uint64_t>(term);
  const auto biased = static_cast<int>(bits >> 52 & 0x7FF);
  std::uint64_t significand = bits & 0xFFFFFFFFFFFFFU;
  if (biased != 0) significand |= std::uint64_t{1} << 52;
  // |term| = significand * 2^(place - 1074).
  const int place = std::max(biased, 1) - 1;
  const auto first = static_cast<std::size_t>(place / 32);
  const int shift = place % 32;
  const std::uint64_t low = (significand & digit_mask) << shift;
  const std::uint64_t high = (significand >> 32) << shift;  // below 2^53
  const std::array<std::uint64_t, 3> parts{low & digit_mask, (low >> 32) + (high & digit_mask), high >> 32};
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const auto part = static_cast<std::int64_t>(parts[k]);
    digit_[first + k] += std::signbit(term) ? -part : part;
  }
  // Each part is below 2^33, so 2^29 of them stay below 2^62.
  if (++terms_ == std::int64_t{1} << 29) carry();
}

void ExactSum::carry() {
  // Floor division leaves every digit but the last in [0, 2^32); the last one has the sign. Its weight is 2^1070: room
  // for 2^100 terms.
  for (std::size_t k = 0; k + 1 < digits; ++k) {
    digit_[k + 1] += digit_[k] >> 32;
    digit_[k] &= digit_mask;
  }
  terms_ = 0;
}

double ExactSum::rounded(Dtype dtype) const {
  const Format format = format_of(dtype);
  if (special_ != 0) return round_to(dtype, special_);
  ExactSum sum = *this;
  sum.carry();
  const bool negative = sum.digit_[digits - 1] < 0;
  if (negative) {
    for (std::int64_t& digit : sum.digit_) digit = -digit;
    sum.carry();
  }
  // The top 64 bits, and whether anything is below them.
  std::size_t top = digits - 1;
  while (top > 0 && sum.digit_[top] == 0) --top;
  std::uint64_t leading = 0;
  int below = static_cast<int>(32 * top);  // leading's unit is 2^(below - 1074)
  leading = static_cast<std::uint64_t>(sum.digit_[top]);
  std::size_t rest = top;
  while (rest > 0 && (leading >> 32) == 0) {
    --rest;
    below -= 32;
    leading = leading << 32 | static_cast<std::uint64_t>(sum.digit_[rest]);
  }
  if (leading == 0) return 0;
  // leading has at least 33 bits unless nothing is below it; one more digit makes them 64.
  int width = 64 - std::countl_zero(leading);
  std::uint64_t extra = 0;
  if (rest > 0) {
    extra = static_cast<std::uint64_t>(sum.digit_[--rest]);
    const int room = 64 - width;
    leading = leading << room | extra >> (32 - room);
    extra &= (std::uint64_t{1} << (32 - room)) - 1;
    below -= room;
    width += room;
  }
  bool sticky = extra != 0;
  for (std::size_t k = 0; k < rest && !sticky; ++k) sticky = sum.digit_[k] != 0;

  const int exponent = std::max(below + lowest_exponent + width - 1, format.min_exponent);
  const int unit = exponent - format.precision + 1;
  const int drop = unit - (below + lowest_exponent);
  // drop <= 0 only where leading has at most 53 bits, and so nothing below it.
  double steps = 0;
  if (drop <= 0) {
    steps = std::ldexp(static_cast<double>(leading), -drop);
  } else if (drop <= 64) {
    const std::uint64_t whole = drop == 64 ? 0 : leading >> drop;
    const std::uint64_t half = std::uint64_t{1} << (drop - 1);
    const std::uint64_t part = drop == 64 ? leading : leading & ((std::uint64_t{1} << drop) - 1);
    const bool up = part > half || (part == half && (sticky || (whole & 1) != 0));
    steps = static_cast<double>(whole + (up ? 1 : 0));
  }
  const double magnitude =
      exponent > format.max_exponent ? std::numeric_limits<double>::infinity() : std::ldexp(steps, unit);
  const double finite = magnitude > largest_finite(dtype) ? std::numeric_limits<double>::infinity() : magnitude;
  return negative ? -finite : finite;
}

}  // namespace sextant
