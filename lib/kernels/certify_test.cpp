#include "lib/kernels/certify.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "lib/kernels/correct_rounding.hpp"
#include "lib/kernels/target_test.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/kernels/certify_test.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "lib/kernels/certify-inl.h"

#ifndef SEXTANT_LIB_CERTIFY_TEST_LANES
#define SEXTANT_LIB_CERTIFY_TEST_LANES
namespace sextant {
// What the kernels say of a value: its rounding, that of the certificate, and whether the certificate is open.
struct Judged {
  std::uint64_t rounded;
  std::uint64_t certified;
  std::uint64_t undecided;
};
constexpr std::size_t lanes_per_case = 8;
}  // namespace sextant
#endif

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

template <class Type>
void JudgeAs(Type type, const double* values, const double* lows, const double* bounds, Judged* out) {
  const hn::CappedTag<double, lanes_per_case> d;
  const typename Type::template Bits<decltype(d)> bits;
  for (std::size_t i = 0; i < lanes_per_case; i += hn::Lanes(d)) {
    const auto value = hn::LoadU(d, values + i);
    const auto bound = hn::LoadU(d, bounds + i);
    const auto rounded = Type::Round(d, value);
    const auto certified = [&] {
      if constexpr (std::is_same_v<Type, Float64>) {
        return Type::Certify(d, DoubleDouble<hn::Vec<decltype(d)>>{value, hn::LoadU(d, lows + i)}, bound);
      } else {
        return Type::Certify(d, value, bound);
      }
    }();
    typename Type::Element elements[lanes_per_case];
    typename Type::Element pairs[2 * lanes_per_case];
    std::uint64_t open[lanes_per_case] = {};
    hn::StoreU(hn::VecFromMask(bits, certified.undecided), bits, reinterpret_cast<hn::TFromD<decltype(bits)>*>(open));
    StoreElements(type, d, rounded, elements);
    StorePairs(type, d, rounded, certified.bits, pairs);
    const auto* open_lanes = reinterpret_cast<const hn::TFromD<decltype(bits)>*>(open);
    for (std::size_t lane = 0; lane < hn::Lanes(d); ++lane) {
      out[i + lane] = {elements[lane], pairs[2 * lane + 1], open_lanes[lane] != 0 ? 1U : 0U};
      if (pairs[2 * lane] != elements[lane]) out[i + lane].rounded = ~std::uint64_t{0};
    }
  }
}

void Judge(Dtype dtype, const double* values, const double* lows, const double* bounds, Judged* out) {
  switch (dtype) {
    case Dtype::float32: return JudgeAs(Float32(), values, lows, bounds, out);
    case Dtype::float16: return JudgeAs(Float16(), values, lows, bounds, out);
    case Dtype::bfloat16: return JudgeAs(BFloat16(), values, lows, bounds, out);
    default: return JudgeAs(Float64(), values, lows, bounds, out);
  }
}

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant {
namespace {

HWY_EXPORT(Judge);

constexpr Dtype dtypes[] = {Dtype::float32, Dtype::float16, Dtype::bfloat16, Dtype::float64};

std::uint64_t bits_of(Dtype dtype, double value) {
  std::byte bytes[8] = {};
  store(dtype, value, bytes);
  std::uint64_t bits = 0;
  std::memcpy(&bits, bytes, sizeof bits);
  return bits;
}

// Values where rounding to the dtype is delicate: ties and their neighbours in every binade, subnormals, the edge of
// overflow, zeros.
std::vector<double> delicate(Dtype dtype) {
  std::vector<double> list{0.0,   1.0,    65519.0, 65520.0, 65519.999999,         65536.0,
                           1e300, 1e-300, 5e-324,  3.5e38,  largest_finite(dtype)};
  const Format format = format_of(dtype);
  std::mt19937_64 random(31);
  for (int exponent = std::max(format.min_exponent - format.precision - 2, -1070);
       exponent <= std::min(format.max_exponent, 1020); ++exponent) {
    if (dtype != Dtype::float16 && random() % 4 != 0) continue;
    for (int i = 0; i < 6; ++i) {
      const double random_value =
          round_to(dtype, std::ldexp(1 + static_cast<double>(random() >> 11) * 0x1p-53, exponent));
      const double quantum = std::ldexp(1.0, std::max(exponent, format.min_exponent) - format.precision + 1);
      const double tie = random_value + quantum / 2;
      for (const double value :
           {random_value, tie, std::nextafter(tie, 0), std::nextafter(tie, 1e308), random_value + quantum * 0.3,
            tie * (1 + 0x1p-26), tie * (1 - 0x1p-26), tie * (1 + 0x1p-30)}) {
        list.push_back(value);
      }
    }
  }
  const std::size_t count = list.size();
  for (std::size_t i = 0; i < count; ++i) list.push_back(-list[i]);
  while (list.size() % lanes_per_case != 0) list.push_back(0.3);
  return list;
}

class CertifyOn : public OnEveryTarget {};
SEXTANT_ON_EVERY_TARGET(CertifyOn);

TEST_P(CertifyOn, RoundingIsThatOfTheDtypeBitForBit) {
  for (const Dtype dtype : dtypes) {
    const std::vector<double> values = delicate(dtype);
    const std::vector<double> bounds(lanes_per_case, 0x1p-60);
    const std::vector<double> lows(lanes_per_case);
    for (std::size_t i = 0; i < values.size(); i += lanes_per_case) {
      Judged judged[lanes_per_case];
      HWY_DYNAMIC_DISPATCH(Judge)(dtype, &values[i], lows.data(), bounds.data(), judged);
      for (std::size_t lane = 0; lane < lanes_per_case; ++lane) {
        ASSERT_EQ(judged[lane].rounded, bits_of(dtype, values[i + lane]))
            << name_of(dtype) << " " << std::hexfloat << values[i + lane];
      }
    }
  }
}

// What no number is in is never certified, nor what reaches beyond every number.
TEST_P(CertifyOn, NaNAndInfiniteBoundsAreLeftOpen) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const double values[lanes_per_case] = {nan, 1, infinity, -infinity, nan, -nan, 0, nan};
  const double bounds[lanes_per_case] = {1e-9, infinity, infinity, infinity, infinity, 0, infinity, nan};
  const double lows[lanes_per_case] = {};
  for (const Dtype dtype : dtypes) {
    Judged judged[lanes_per_case];
    HWY_DYNAMIC_DISPATCH(Judge)(dtype, values, lows, bounds, judged);
    for (std::size_t lane = 0; lane < lanes_per_case; ++lane) {
      EXPECT_NE(judged[lane].undecided, 0U) << name_of(dtype) << " " << values[lane] << " within " << bounds[lane];
    }
  }
}

// Where the certificate is closed, both ends of the interval round to what it says; the true value may be anything
// between. And it must be closed often, or it would prove nothing.
TEST_P(CertifyOn, AClosedCertificateIsRight) {
  for (const Dtype dtype : dtypes) {
    const std::vector<double> values = delicate(dtype);
    std::size_t closed = 0;
    for (const double relative : {0x1p-52, 0x1p-50, 0x1p-40, 0x1p-30}) {
      for (std::size_t i = 0; i < values.size(); i += lanes_per_case) {
        Judged judged[lanes_per_case];
        double errors[lanes_per_case];
        double bounds[lanes_per_case];
        double lows[lanes_per_case];
        for (std::size_t lane = 0; lane < lanes_per_case; ++lane) {
          const double magnitude = std::fabs(values[i + lane]);
          errors[lane] = std::min(relative * magnitude, 1e300) + 0x1p-1074;
          bounds[lane] = errors[lane] + 0x1p-52 * magnitude + 0x1p-1073;
          lows[lane] = dtype == Dtype::float64 ? (lane % 2 == 0 ? 0.25 : -0.1) * 0x1p-53 * values[i + lane] : 0.0;
        }
        if (dtype == Dtype::float64) {
          for (std::size_t lane = 0; lane < lanes_per_case; ++lane) {
            errors[lane] = relative * 0x1p-40 * std::fabs(values[i + lane]) + 0x1p-1074;
            bounds[lane] = errors[lane] + 0x1p-104 * std::fabs(values[i + lane]) + 0x1p-1073;
          }
        }
        HWY_DYNAMIC_DISPATCH(Judge)(dtype, &values[i], lows, bounds, judged);
        for (std::size_t lane = 0; lane < lanes_per_case; ++lane) {
          if (judged[lane].undecided != 0) continue;
          ++closed;
          using W = Wide<5000>;
          const W centre = W(values[i + lane]) + W(lows[lane]);
          const auto nearest = [&](const W& exact) { return bits_of(dtype, round_wide(dtype, exact)); };
          const W below = centre - errors[lane];
          const W above = centre + errors[lane];
          if (below != 0) {
            ASSERT_EQ(judged[lane].certified, nearest(below))
                << name_of(dtype) << " " << std::hexfloat << values[i + lane] << " " << relative;
          }
          if (above != 0) {
            ASSERT_EQ(judged[lane].certified, nearest(above))
                << name_of(dtype) << " " << std::hexfloat << values[i + lane] << " " << relative;
          }
        }
      }
    }
    EXPECT_GT(closed, values.size() / 2) << name_of(dtype);
  }
}

TEST(RoundInterval, DecidesByTheLowPart) {
  // 1 + 2^-24 is the tie between 1 and the next float32.
  EXPECT_EQ(round_interval(Dtype::float32, 1 + 0x1p-24, 0x1p-80, 0x1p-90), 1 + 0x1p-23);
  EXPECT_EQ(round_interval(Dtype::float32, 1 + 0x1p-24, -0x1p-80, 0x1p-90), 1.0);
  EXPECT_EQ(round_interval(Dtype::float32, 1 + 0x1p-24, 0x1p-95, 0x1p-90), std::nullopt);
  EXPECT_EQ(round_interval(Dtype::float32, 1 + 0x1p-24, 0, 0x1p-90), std::nullopt);
  EXPECT_EQ(round_interval(Dtype::bfloat16, 1 + 0x1p-8, -0x1p-80, 0x1p-90), 1.0);
  EXPECT_EQ(round_interval(Dtype::float16, 65520, -0x1p-50, 0x1p-90), 65504.0);
  EXPECT_EQ(round_interval(Dtype::float16, 65520, 0x1p-50, 0x1p-90), std::numeric_limits<double>::infinity());
  EXPECT_EQ(round_interval(Dtype::float64, 1, 0x1p-54, 0x1p-90), 1.0);
  EXPECT_EQ(round_interval(Dtype::float64, 1, 0x1p-53, 0x1p-90), std::nullopt);
  EXPECT_EQ(round_interval(Dtype::float32, 0, 0, 0x1p-90), std::nullopt) << "the sign of a zero is not known";
  EXPECT_TRUE(std::signbit(*round_interval(Dtype::float16, -0x1p-30, 0, 0x1p-90)));
}

TEST(RoundedAlike, OfWideNumbersAgreesWithRoundTo) {
  using W = Wide<256>;
  for (const Dtype dtype : dtypes) {
    const std::vector<double> values = delicate(dtype);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values[i] == 0) continue;
      const W wide = W(values[i]) * (1 + ldexp(W(1), -100));  // off every tie, away from zero
      const std::optional<double> rounded = rounded_alike(dtype, Approximation<W>{wide, abs(wide) * ldexp(W(1), -200)});
      ASSERT_TRUE(rounded.has_value());
      // Where the double is a tie, the other candidate lies as far beyond it; the wide number takes the one further
      // from zero.
      const double nearest = round_to(dtype, values[i]);
      const double other = values[i] + (values[i] - nearest);
      const bool tie = std::isfinite(nearest) && other != nearest && round_to(dtype, other) == other;
      const double expected = tie && std::fabs(other) > std::fabs(nearest) ? other : nearest;
      ASSERT_EQ(std::bit_cast<std::uint64_t>(*rounded), std::bit_cast<std::uint64_t>(expected))
          << name_of(dtype) << std::hexfloat << values[i];
    }
    EXPECT_EQ(rounded_alike(dtype, Approximation<W>{W(0), ldexp(W(1), -200)}), std::nullopt);
  }
  EXPECT_EQ(rounded_alike(Dtype::float32, Approximation<W>{W(1) + ldexp(W(1), -24), W(0)}), std::nullopt)
      << "a tie is not decided";
}

}  // namespace
}  // namespace sextant
#endif
