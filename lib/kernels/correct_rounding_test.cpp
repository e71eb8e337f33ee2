#include "lib/kernels/correct_rounding.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <thread>
#include <vector>

#include "lib/kernels/truth_test.hpp"
#include "lib/numeric/ulp.hpp"

namespace sextant::kernels_correct_rounding_test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

template <class Real>
std::optional<double> of(Dtype dtype, const Real& value) {
  return rounded_alike(dtype, Approximation<Real>{value, Real(0)});
}

TEST(CorrectRounding, AnIntervalRoundsAlikeOrNotAtAll) {
  EXPECT_EQ(rounded_alike(Dtype::float32, Interval{1, 1 + 0x1p-30}), 1);
  EXPECT_EQ(rounded_alike(Dtype::float32, Interval{1, 1 + 0x1p-23}), std::nullopt);
  EXPECT_EQ(rounded_alike(Dtype::float32, Interval{-1e-60, 1e-60}), std::nullopt) << "zeros of two signs";
  EXPECT_EQ(rounded_alike(Dtype::float32, Interval{1e39, 1e300}), infinity);
  EXPECT_EQ(rounded_alike(Dtype::float32, Interval{std::nan(""), std::nan("")}), std::nullopt);
  EXPECT_TRUE(std::signbit(*rounded_alike(Dtype::float16, Interval{-1e-12, -1e-13})));
}

TEST(CorrectRounding, AWideValueRoundsAsADoubleOfTheSameValueDoes) {
  std::mt19937_64 random(3);
  for (const Dtype dtype : floating_dtypes) {
    for (int i = 0; i < 2000; ++i) {
      const double value = std::ldexp(static_cast<double>(random()), static_cast<int>(random() % 400) - 260);
      // A hair above and below: never a tie, and on the other side of one than the double's own rounding where it is
      // one.
      for (const double side : {0x1p-100, -0x1p-100}) {
        const Wide<256> wide = Wide<256>(value) * (1 + Wide<256>(side));
        const auto got = of(dtype, wide);
        const double plain = round_to(dtype, value);
        ASSERT_TRUE(got);
        const bool tie =
            dtype != Dtype::float64 && std::fabs(value - round_to(dtype, std::nextafter(value, 0.0))) ==
                                           std::fabs(round_to(dtype, std::nextafter(value, infinity)) - value);
        if (!tie || dtype == Dtype::float64) {
          EXPECT_EQ(*got, plain) << value;
        } else {
          EXPECT_EQ(*got, round_to(dtype, std::nextafter(value, side > 0 ? infinity : 0.0))) << value;
        }
      }
    }
  }
}

TEST(CorrectRounding, BordersOfTheFormat) {
  const Wide<256> hair = ldexp(Wide<256>(1), -120);
  for (const Dtype dtype : floating_dtypes) {
    const double largest = largest_finite(dtype);
    const Wide<256> half_step = Wide<256>(ulp(dtype, largest)) / 2;
    EXPECT_EQ(of(dtype, Wide<256>(Wide<256>(largest) + half_step * (1 - hair))), largest);
    EXPECT_EQ(of(dtype, Wide<256>(Wide<256>(largest) + half_step * (1 + hair))), infinity);
    EXPECT_EQ(of(dtype, ldexp(Wide<256>(1), 5000)), infinity);
    const double least = ulp(dtype, 0);
    EXPECT_EQ(of(dtype, Wide<256>(Wide<256>(least) / 2 * (1 + hair))), least);
    EXPECT_EQ(of(dtype, Wide<256>(-Wide<256>(least) / 2 * (1 - hair))), 0);
    EXPECT_TRUE(std::signbit(*of(dtype, Wide<256>(-Wide<256>(least) / 2 * (1 - hair)))));
    // One and a half least values lies between an odd and an even one.
    EXPECT_EQ(of(dtype, Wide<256>(Wide<256>(least) * 3 / 2 * (1 - hair))), least);
    EXPECT_EQ(of(dtype, Wide<256>(Wide<256>(least) * 3 / 2 * (1 + hair))), 2 * least);
  }
}

// 1 + 2^-24 is float32's tie above 1; this lies 2^-k above it.
struct NearTie {
  int k;
  template <class Real>
  Approximation<Real> operator()() const {
    return {1 + ldexp(Real(1), -24) + ldexp(Real(1), -k), ldexp(Real(1), -std::numeric_limits<Real>::digits)};
  }
};

TEST(CorrectRounding, PrecisionDoublesUntilTheValueIsDecided) {
  const double above = std::nextafter(1.0F, 2.0F);
  for (const int k : {30, 200, 300, 1000, 1100, 4900})
    EXPECT_EQ(correctly_rounded(Dtype::float32, NearTie{k}), above) << k;
  EXPECT_THROW(correctly_rounded(Dtype::float32, NearTie{5100}), std::domain_error);
}

// The constants that Boost fills at first use are filled before threads come; ThreadSanitizer watches.
TEST(CorrectRounding, ThreadsMayStartTogether) {
  std::vector<double> values(4);
  std::vector<std::thread> threads;
  for (double& value : values) {
    threads.emplace_back([&value] {
      value = correctly_rounded(Dtype::float64, []<class Real>() {
        return Approximation<Real>{log(Real(3)), ldexp(Real(1), -180)};
      });
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const double value : values) EXPECT_EQ(value, 0x1.193ea7aad030bp+0);
}

}  // namespace
}  // namespace sextant::kernels_correct_rounding_test
