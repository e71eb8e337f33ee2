#include "reference/cephes.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>

namespace sextant::reference::cephes_test {
namespace {

float value_of(std::uint32_t bits) { return std::bit_cast<float>(bits); }
std::uint32_t bits_of(float value) { return std::bit_cast<std::uint32_t>(value); }

// What MLX 0.32.4 computes on an x86-64 processor.
struct Turn {
  std::uint32_t angle;
  std::uint32_t sine;
  std::uint32_t cosine;
};
constexpr Turn turns[] = {
    {0x00000000U, 0x00000000U, 0x3f800000U}, {0x3f800000U, 0x3f576aa4U, 0x3f0a5140U},
    {0xbf800000U, 0xbf576aa4U, 0x3f0a5140U}, {0x3f000000U, 0x3ef57744U, 0x3f60a940U},
    {0x3fc90fdbU, 0x3f800000U, 0xb33bbd2eU}, {0x40200000U, 0x3f193579U, 0xbf4d17bfU},
    {0xc0490fdbU, 0x33bbbd2eU, 0xbf800000U}, {0x40e00000U, 0x3f283046U, 0x3f40ffbdU},
    {0x42c88000U, 0xbe8df805U, 0x3f75f639U}, {0xc47a2000U, 0xbf7eca46U, 0x3dc6dffcU},
    {0x45fff800U, 0xbf43546aU, 0xbf2579d9U}, {0x473504f3U, 0x3f21c4d1U, 0xbf46692bU},
    {0x47ffff80U, 0xbf13430aU, 0xbf51675eU}, {0x497ffff0U, 0xbf1d9959U, 0x3f49bd23U},
    {0x4afffffeU, 0x3f7e0a54U, 0xbdfceb5eU}, {0xc9fffffaU, 0x3d9c3570U, 0x3f7f4116U},
};

struct Power {
  std::uint32_t exponent;
  std::uint32_t value;
};
constexpr Power powers[] = {
    {0x00000000U, 0x3f800000U}, {0xbf135d8eU, 0x3f0ff59aU}, {0xbf935d8dU, 0x3ea1e89cU}, {0xc0135d8eU, 0x3dccccceU},
    {0xc0935d8eU, 0x3c23d70bU}, {0xc0dd0c55U, 0x3a831270U}, {0xc10a27b5U, 0x393a7751U}, {0xc1135d8eU, 0x38d1b71aU},
    {0x3f800000U, 0x402df854U}, {0x3e800000U, 0x3fa45af2U}, {0xbd800000U, 0x3f707d60U}, {0x41a40000U, 0x4e3eb62bU},
    {0xc2a08000U, 0x059578a5U}, {0x40400000U, 0x41a0af2dU}, {0xc1890000U, 0x331cea7bU}, {0xc1380000U, 0x3729f473U},
};

TEST(Cephes, HasTheBitsOfMlx) {
  for (const auto& [angle, sine, cosine] : turns) {
    EXPECT_EQ(bits_of(cephes_sine(value_of(angle))), sine) << value_of(angle);
    EXPECT_EQ(bits_of(cephes_cosine(value_of(angle))), cosine) << value_of(angle);
  }
  for (const auto& [exponent, value] : powers)
    EXPECT_EQ(bits_of(cephes_exponential(value_of(exponent))), value) << value_of(exponent);
}

// Sine and cosine: the three parts of pi/4 leave 2^-50 of it, times at most 2^14 octants here; the polynomials and the
// rest's own rounding make an ULP of 1. The exponential: 1.442695 is log2(e) but for 2.9e-8 of it, and the product is
// rounded, which is 2^-24 of it: both times |x|; the polynomial makes 3 ULP at most.
TEST(Cephes, IsWithinUlpsOfTheTruth) {
  for (int i = -40000; i < 40000; ++i) {
    const float x = static_cast<float>(i) * 0.375F;
    ASSERT_NEAR(static_cast<double>(cephes_sine(x)), std::sin(static_cast<double>(x)), 0x1p-23) << x;
    ASSERT_NEAR(static_cast<double>(cephes_cosine(x)), std::cos(static_cast<double>(x)), 0x1p-23) << x;
  }
  for (int i = -800; i < 800; ++i) {
    const float x = static_cast<float>(i) * 0.1F;
    const double most = std::fabs(static_cast<double>(x)) * (2.9e-8 + 0x1p-24) + 3 * 0x1p-23;
    ASSERT_NEAR(static_cast<double>(cephes_exponential(x)) / std::exp(static_cast<double>(x)), 1, most) << x;
  }
}

TEST(Cephes, IsOddAndEven) {
  EXPECT_EQ(bits_of(cephes_sine(0.0F)), 0U);
  EXPECT_EQ(cephes_cosine(0.0F), 1.0F);
  for (const float x : {0.75F, 3.0F, 1e6F}) {
    EXPECT_EQ(cephes_sine(-x), -cephes_sine(x));
    EXPECT_EQ(cephes_cosine(-x), cephes_cosine(x));
  }
}

}  // namespace
}  // namespace sextant::reference::cephes_test
