// The tables and rates that powers of two with real exponents are computed from (powers-inl.h).
//
//   1. 2^(k/512), k < 512, each as two doubles: products of one ratio at 256 bits.
//   2. Of a power r^(E p) the rate E log2 r, as a fraction of 2^192 and as a double: the fractional part of p times it
//      is then exact in integers.
//
// docs/proofs/encoder-powers.md.

#include "lib/kernels/powers.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "lib/kernels/wide.hpp"
#include "lib/numeric/standard_arithmetic.hpp"

namespace sextant {
namespace {

// 192 bits of fraction, and 64 for what stands before the point and for roundings.
using W = Wide<256>;

BinaryPowers make() {
  const StandardArithmetic arithmetic;
  fill_wide_constants();
  const W ratio = exp(W(wide_ln_two<W>() / BinaryPowers::points));
  BinaryPowers powers{};
  W power = 1;
  for (std::size_t k = 0; k < BinaryPowers::points; ++k) {
    // The conversions may each be a unit off; the sum of what they give is renormalised, so that high is the nearest
    // double.
    const auto leading = static_cast<double>(power);
    powers.high[k] = leading + static_cast<double>(W(power - leading));
    powers.low[k] = static_cast<double>(W(power - powers.high[k]));
    power *= ratio;
  }
  return powers;
}

}  // namespace

PowerRates::PowerRates(std::vector<Turns> fixed, std::vector<double> rates)
    : fixed_(std::move(fixed)), fractions_(fixed_), rates_(std::move(rates)) {
  rates_.resize(fractions_.padded(), rates_.back());
}

PowerRates::PowerRates(std::span<const PowerScale> of_one_position) {
  const StandardArithmetic arithmetic;
  fill_wide_constants();
  const W& ln_two = wide_ln_two<W>();
  std::vector<Turns> fixed;
  std::vector<double> rates;
  for (const PowerScale& factor : of_one_position) {
    const W rate = log(W(factor.numerator) / factor.denominator) / ln_two * factor.exponent_numerator /
                   W(factor.exponent_denominator);
    const boost::multiprecision::cpp_int scaled(W(round(ldexp(W(rate - floor(rate)), 192))));
    fixed.emplace_back(boost::multiprecision::cpp_int(scaled % (boost::multiprecision::cpp_int(1) << 192)));
    rates.push_back(static_cast<double>(rate));
  }
  *this = PowerRates(std::move(fixed), std::move(rates));
}

PowerRates PowerRates::inverse() const {
  std::vector<Turns> fixed;
  std::vector<double> rates;
  for (std::size_t i = 0; i < fixed_.size(); ++i) {
    fixed.push_back(Turns(0) - fixed_[i]);
    rates.push_back(-rates_[i]);
  }
  return {std::move(fixed), std::move(rates)};
}

double PowerRates::fastest() const {
  double fastest = 0;
  for (const double rate : rates_) fastest = std::max(fastest, std::fabs(rate));
  return fastest;
}

const BinaryPowers& binary_powers() {
  static const BinaryPowers powers = make();
  return powers;
}

}  // namespace sextant
