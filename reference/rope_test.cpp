#include "reference/rope.hpp"

#include <gtest/gtest.h>

namespace sextant::reference::rope_test {
namespace {

Rope with(std::int64_t head_dim, std::int64_t rotary_dim) {
  Rope encoding;
  encoding.head_dim = head_dim;
  encoding.rotary_dim = rotary_dim;
  return encoding;
}

constexpr Precision precision{128};

TEST(RopeReference, TurnsCounterclockwise) {
  RopeReference reference(with(4, 4));
  const RealPair turned = RopeReference::rotate(reference.rotation(1, 0, precision),
                                                {Enclosure(1.0, precision), Enclosure(0.0, precision)});
  EXPECT_DOUBLE_EQ(turned.first.upper(), 0.54030230586813971740);   // cos 1
  EXPECT_DOUBLE_EQ(turned.second.upper(), 0.84147098480789650665);  // sin 1
}

TEST(RopeReference, ClockwiseIsTheInverse) {
  Rope encoding = with(4, 4);
  encoding.direction = Direction::clockwise;
  RopeReference clockwise(encoding);
  RopeReference counterclockwise(with(4, 4));
  const RealPair x{Enclosure(0.6, precision), Enclosure(-0.7, precision)};
  const RealPair there = RopeReference::rotate(counterclockwise.rotation(1000, 1, precision), x);
  const RealPair back = RopeReference::rotate(clockwise.rotation(1000, 1, precision), there);
  EXPECT_LE(back.first.lower(), 0.6);
  EXPECT_GE(back.first.upper(), 0.6);
  EXPECT_LE(back.second.lower(), -0.7);
  EXPECT_GE(back.second.upper(), -0.7);
}

TEST(RopeReference, KeepsTheNorm) {
  RopeReference reference(with(128, 128));
  const RealPair x{Enclosure(3.0, precision), Enclosure(4.0, precision)};
  for (std::int64_t pair = 0; pair < 64; ++pair) {
    const RealPair turned = RopeReference::rotate(reference.rotation(131071, pair, precision), x);
    const Enclosure norm = hypot(turned.first, turned.second);
    EXPECT_LE(norm.lower(), 5);
    EXPECT_GE(norm.upper(), 5);
    EXPECT_LT((norm - Enclosure(5.0, precision)).upper(), 0x1p-90);
  }
}

TEST(RopeReference, FrequenciesAreThoseOfTheRotatedWidthOrOfTheFullHead) {
  RopeReference prefix(with(8, 4));
  EXPECT_DOUBLE_EQ(prefix.rotation(1, 1, precision).angle.lower(), 0.01);  // 10000^(-2/4)
  Rope encoding = with(8, 4);
  encoding.rotary_layout = RotaryLayout::spread;
  RopeReference spread(encoding);
  EXPECT_DOUBLE_EQ(spread.rotation(1, 1, precision).angle.lower(), 0.1);  // 10000^(-2/8)
}

}  // namespace
}  // namespace sextant::reference::rope_test
