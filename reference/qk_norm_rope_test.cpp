#include "reference/qk_norm_rope.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace sextant::reference::qk_norm_rope_test {
namespace {

QkNormRope encoding(double epsilon, double weight_offset) {
  QkNormRope made;
  made.rope.head_dim = made.rope.rotary_dim = 4;
  made.epsilon = epsilon;
  made.weight_offset = weight_offset;
  return made;
}

// The mean of the squares is 2, and 2 + 1/4 has the root 3/2.
TEST(HeadNorm, IsTheFormulaWhereItIsExact) {
  const HeadNorm norm(encoding(0.25, 0));
  const std::array<double, 4> x{2, -2, 0, 0};
  const Enclosure root = norm.inverse_root(x, first_precision);
  EXPECT_LE(root.lower(), 2.0 / 3);
  EXPECT_GE(root.upper(), 2.0 / 3);
  EXPECT_LT(root.width(), 0x1p-100);
  const Enclosure third = norm.normalized(-2, 0.75, root);  // -2 * 3/4 * 2/3 = -1
  EXPECT_LE(third.lower(), -1);
  EXPECT_GE(third.upper(), -1);
  EXPECT_LT(third.width(), 0x1p-100);
}

TEST(HeadNorm, AnOffsetIsAddedToTheWeight) {
  const std::array<double, 4> x{1, 3, -5, 7};
  const HeadNorm plain(encoding(1e-6, 0));
  const HeadNorm offset(encoding(1e-6, 1));
  const Enclosure root = plain.inverse_root(x, first_precision);
  EXPECT_EQ(plain.normalized(3, 1.5, root).upper(), offset.normalized(3, 0.5, root).upper());
}

// Of zeros it is 1/sqrt(epsilon), whatever the sum could have underflowed to.
TEST(HeadNorm, OfZerosAndOfTinyNumbersIsThatOfEpsilonAlone) {
  const HeadNorm norm(encoding(0x1p-20, 0));
  const std::array<double, 4> zeros{0, -0.0, 0, 0};
  EXPECT_EQ(norm.inverse_root(zeros, first_precision).upper(), 0x1p10);
  const std::array<double, 4> tiny{0x1p-1074, 0, 0, 0};
  const Enclosure root = norm.inverse_root(tiny, Precision{4096});
  EXPECT_TRUE(certainly_above(Enclosure(0x1p10, Precision{64}), root));
}

// No square of a double leaves the range of an enclosure.
TEST(HeadNorm, HugeNumbersDoNotOverflow) {
  const HeadNorm norm(encoding(1e-6, 0));
  const std::array<double, 4> huge{0x1p1023, 0x1p1023, 0x1p1023, 0x1p1023};
  EXPECT_EQ(norm.inverse_root(huge, first_precision).upper(), 0x1p-1023);
  EXPECT_TRUE(std::isfinite(norm.normalized(0x1p1023, 1, norm.inverse_root(huge, first_precision)).upper()));
}

}  // namespace
}  // namespace sextant::reference::qk_norm_rope_test
