#include "lib/kernels/powers.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "lib/kernels/target_test.hpp"
#include "reference/enclosure.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/kernels/powers_test.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "lib/kernels/powers-inl.h"

// Target-independent, so declared before the file is taken once per target.
#ifndef SEXTANT_LIB_POWERS_TEST_ROW
#define SEXTANT_LIB_POWERS_TEST_ROW
namespace sextant {
struct RowOfPowers {
  std::vector<double> high;
  std::vector<double> low;
  std::vector<double> in_double;
};
}  // namespace sextant
#endif

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

void FillPowers(const PowerRates& rates, double position, RowOfPowers& row) {
  const Doubles d;
  for (std::size_t i = 0; i < rates.fractions().padded(); i += hn::Lanes(d)) {
    const auto power = PowerAt(rates, i, hn::Set(d, position), binary_powers());
    hn::StoreU(power.high, d, &row.high[i]);
    hn::StoreU(power.low, d, &row.low[i]);
    hn::StoreU(PowerInDoubleAt(rates, i, hn::Set(d, position), binary_powers()), d, &row.in_double[i]);
  }
}

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant {
namespace {

HWY_EXPORT(FillPowers);

using reference::Enclosure;
using reference::Precision;

constexpr Precision precision{512};

Enclosure exact(double value) { return Enclosure(value, precision); }

// log2 of the power of one position.
Enclosure rate_of(const PowerScale& factor) {
  const Enclosure logarithm =
      log(Enclosure(factor.numerator, precision) / Enclosure(factor.denominator, precision)) / log(exact(2));
  return logarithm * Enclosure(factor.exponent_numerator, precision) / exact(factor.exponent_denominator);
}

// xPos's factors of 5 pairs, growing and shrinking, and others: rates that are whole, beyond 1, and too slow for 192
// bits.
const std::vector<PowerScale>& factors() {
  static const std::vector<PowerScale> list{{20, 70, 1, 512},   {30, 70, 1, 512},  {40, 70, -1, 512},
                                            {50, 70, 1, 77.25}, {60, 70, -1, 0.5}, {1, 2, 1, 1},
                                            {1, 8, 1, 1},       {1, 8, -1, 2},     {1, 1, 1, 512},
                                            {2, 7, 1, 1e300},   {2, 7, -1, 1e9},   {999999, 1000000, -1, 3},
                                            {20, 70, -1, 512}};
  return list;
}

std::vector<std::int64_t> positions() {
  std::vector<std::int64_t> list{0, 1, -1, 2, 3, 16, -16, 511, 512, 1000, 131071, -131071};
  for (int k = 18; k <= 53; k += 5) list.push_back(std::int64_t{1} << k);
  std::mt19937_64 random(5);
  for (int i = 0; i < 60; ++i) list.push_back((static_cast<std::int64_t>(random()) >> (11 + random() % 50)));
  return list;
}

class PowersOn : public OnEveryTarget {};
SEXTANT_ON_EVERY_TARGET(PowersOn);

TEST_P(PowersOn, AreWithinTheProvenBoundAndHeldBeyondTheLimit) {
  const PowerRates rates(factors());
  const std::vector<double> zeros(rates.fractions().padded());
  RowOfPowers row{zeros, zeros, zeros};
  int held = 0;
  for (const std::int64_t position : positions()) {
    HWY_DYNAMIC_DISPATCH(FillPowers)(rates, static_cast<double>(position), row);
    for (std::size_t i = 0; i < factors().size(); ++i) {
      const Enclosure exponent = rate_of(factors()[i]) * Enclosure(position, precision);
      // Exponents are below 8 2^53: with 512 bits the middle is as good as the number.
      const double nearest = mpfr_get_d(exponent.lower_end(), MPFR_RNDN);
      ASSERT_EQ(row.high[i] + row.low[i], row.high[i]);
      // 1.01 u, high's own u and the quotient's rounding, u = 2^-53, also where both are held.
      ASSERT_LE(std::fabs(row.in_double[i] / row.high[i] - 1), 0x1p-51) << i << " at " << position;
      if (std::fabs(nearest) > PowerRates::exponent_limit - 1) {
        // Nearer to 1 than the true power, and beyond all that single precision holds.
        ASSERT_GE(std::fabs(std::log2(row.high[i])), std::min(std::fabs(nearest), PowerRates::exponent_limit) - 1.01)
            << i << " at " << position;
        ASSERT_LE(std::fabs(std::log2(row.high[i])), std::fabs(nearest) + 0.01) << i << " at " << position;
        ASSERT_EQ(row.high[i] > 1, nearest > 0);
        ++held;
        continue;
      }
      const Enclosure truth = exp(exponent * log(exact(2)));
      const Enclosure error = abs(exact(row.high[i]) + exact(row.low[i]) - truth) / truth;
      ASSERT_LE(error.upper(), power_error) << i << " at " << position;
      const Enclosure error_in_double = abs(exact(row.in_double[i]) - truth) / truth;
      ASSERT_LE(error_in_double.upper(), power_error_in_double) << i << " at " << position;
    }
    for (std::size_t i = factors().size(); i < rates.fractions().padded(); ++i) {
      ASSERT_EQ(row.high[i], row.high[factors().size() - 1]) << "a padded lane is a copy of the last pair";
    }
  }
  EXPECT_GT(held, 100);
}

TEST_P(PowersOn, InverseRatesAtTheOppositePositionAreTheSamePowers) {
  const PowerRates rates(factors());
  const PowerRates inverse = rates.inverse();
  const std::vector<double> zeros(rates.fractions().padded());
  RowOfPowers there{zeros, zeros, zeros};
  RowOfPowers back{zeros, zeros, zeros};
  for (const double position : {1.0, 777.0, -131071.0}) {
    HWY_DYNAMIC_DISPATCH(FillPowers)(rates, position, there);
    HWY_DYNAMIC_DISPATCH(FillPowers)(inverse, -position, back);
    EXPECT_EQ(there.high, back.high);
  }
}

TEST_P(PowersOn, PositionZeroIsExact) {
  const PowerRates rates(factors());
  const std::vector<double> ones(rates.fractions().padded(), 1.0);
  const std::vector<double> zeros(ones.size());
  RowOfPowers row{zeros, ones, zeros};
  HWY_DYNAMIC_DISPATCH(FillPowers)(rates, 0, row);
  EXPECT_EQ(row.high, ones);
  EXPECT_EQ(row.low, zeros);
}

TEST(BinaryPowers, HoldTheNearestDoubles) {
  const BinaryPowers& powers = binary_powers();
  for (std::size_t k = 0; k < BinaryPowers::points; ++k) {
    const Enclosure truth = exp(log(exact(2)) * exact(static_cast<double>(k) / BinaryPowers::points));
    EXPECT_EQ(powers.high[k], mpfr_get_d(truth.lower_end(), MPFR_RNDN)) << k;
    const Enclosure error = abs(exact(powers.high[k]) + exact(powers.low[k]) - truth) / truth;
    EXPECT_LE(error.upper(), 0x1p-106) << k;
  }
}

TEST(PowerRates, AreTheExponentsOfOnePosition) {
  const PowerRates rates(factors());
  for (std::size_t i = 0; i < factors().size(); ++i) {
    const Enclosure truth = rate_of(factors()[i]);
    EXPECT_LE(abs(exact(rates.rates()[i]) - truth).upper(), std::fabs(rates.rates()[i]) * 0x1p-52) << i;
  }
  EXPECT_EQ(rates.fastest(), 3);
}

}  // namespace
}  // namespace sextant
#endif
