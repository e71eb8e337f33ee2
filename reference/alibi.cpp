#include "reference/alibi.hpp"

#include <bit>
#include <cmath>

namespace sextant::reference {
namespace {

// 2^(-numerator/denominator).
struct NegativePower {
  std::int64_t numerator;
  std::int64_t denominator;
};

// Head h of n = 2^k: 2^(-8 (h+1) / n). Beyond the largest power of two below n, every other head of twice as many, from
// the first: number 2 (h - n') of 2 n'.
NegativePower slope_exponent(std::int64_t heads, std::int64_t head) {
  const auto power = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(heads)));
  if (head < power) return {8 * (head + 1), power};
  return {8 * (2 * (head - power) + 1), 2 * power};
}

// The whole part of the exponent is applied exactly.
Enclosure enclose(const NegativePower& power, Precision precision) {
  const std::int64_t whole = power.numerator / power.denominator;
  Enclosure scale(std::ldexp(1.0, -static_cast<int>(whole)), precision);
  const std::int64_t rest = power.numerator % power.denominator;
  if (rest == 0) return scale;
  return scale *
         exp(-log(Enclosure(2.0, precision)) * Enclosure(rest, precision) / Enclosure(power.denominator, precision));
}

}  // namespace

AlibiReference::AlibiReference(const Alibi& encoding) : encoding_(encoding) {}

const Enclosure& AlibiReference::slope(std::int64_t head, Precision precision) {
  std::vector<Enclosure>& slopes = slopes_by_precision_[precision.bits];
  if (slopes.empty()) {
    for (std::int64_t h = 0; h < encoding_.num_heads; ++h)
      slopes.push_back(enclose(slope_exponent(encoding_.num_heads, h), precision));
  }
  return slopes.at(static_cast<std::size_t>(head));
}

std::optional<Enclosure> AlibiReference::bias(std::int64_t query, std::int64_t key, std::int64_t head,
                                              Precision precision) {
  if (encoding_.mask == Mask::causal && key > query) return std::nullopt;
  const Enclosure& m = slope(head, precision);
  if (encoding_.form == AlibiForm::key_index) return m * Enclosure(key, precision);
  return m * -abs(Enclosure(query, precision) - Enclosure(key, precision));
}

}  // namespace sextant::reference
