#include "lib/numeric/powers.hpp"

#include <algorithm>
#include <boost/math/constants/constants.hpp>
#include <cmath>

#include "lib/numeric/wide.hpp"

namespace sextant {
namespace {

// 192 bits of fraction, whatever the exponent's denominator leaves before the point, as far as any rate that vectors take goes.
using W = Wide<1024>;

BinaryPowers make() {
  const auto lock = wide_lock();
  const W ratio = exp(W(boost::math::constants::ln_two<W>() / BinaryPowers::points));
  BinaryPowers powers{};
  W power = 1;
  for (std::size_t k = 0; k < BinaryPowers::points; ++k) {
    // The conversions may each be a unit off; the sum of what they give is renormalised, so that high is the nearest double.
    const auto leading = static_cast<double>(power);
    powers.high[k] = leading + static_cast<double>(W(power - leading));
    powers.low[k] = static_cast<double>(W(power - powers.high[k]));
    power *= ratio;
  }
  return powers;
}

}  // namespace

PowerRates::PowerRates(std::span<const PowerScale> of_one_position) {
  const auto lock = wide_lock();
  const W ln_two = boost::math::constants::ln_two<W>();
  std::vector<Turns> fractions;
  for (const PowerScale& factor : of_one_position) {
    const W rate = log(W(factor.numerator) / factor.denominator) / ln_two * factor.exponent_numerator / W(factor.exponent_denominator);
    const W fraction = rate - floor(rate);
    const boost::multiprecision::cpp_int scaled(W(round(ldexp(fraction, 192))));
    fractions.emplace_back(Turns(boost::multiprecision::cpp_int(scaled % (boost::multiprecision::cpp_int(1) << 192))));
    rates_.push_back(static_cast<double>(rate));
  }
  fractions_ = FrequencyPieces(fractions);
  rates_.resize(fractions_.padded(), rates_.back());
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
