#include "reference/rope_nd.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "reference/decimal.hpp"

namespace sextant::reference {
namespace {

constexpr Precision precision{128};

RopeNd qwen2_vl() {
  RopeNd encoding;
  encoding.rope.head_dim = encoding.rope.rotary_dim = 128;
  encoding.sections = {16, 24, 24};
  encoding.rope.rope_theta = 1000000;
  return encoding;
}

// Computed apart from this code, by mpmath 1.3 at 400 bits: 1000000^(-2i/128) times the axis's coordinate.
TEST(RopeNdReference, AgreesWithAnIndependentComputation) {
  struct Row {
    std::int64_t pair;
    const char* sine;
    const char* cosine;
  };
  const Row rows[] = {{3, "0.999999595915034444451807435377", "0.000898982629324080431144598209262"},
                      {20, "0.803686620773550971364291846031", "0.595052783868448487283561796883"},
                      {50, "0.0184806731094305919203320737342", "0.999829217777427411091888189852"}};
  RopeNdReference reference(qwen2_vl());
  const std::vector<std::int64_t> position{3, 70, 900};
  for (const Row& row : rows) {
    const Rotation& rotation = reference.rotation(position, row.pair, Precision{256});
    EXPECT_TRUE(agrees_with(rotation.sin, row.sine)) << row.pair;
    EXPECT_TRUE(agrees_with(rotation.cos, row.cosine)) << row.pair;
    EXPECT_TRUE(overlap(rotation.sin, RopeNdReference(qwen2_vl()).rotation(position, row.pair, precision).sin));
  }
}

void expect_rope(const RopeNd& encoding, std::int64_t position) {
  RopeNdReference reference(encoding);
  RopeReference rope(encoding.rope);
  const std::vector<std::int64_t> everywhere(encoding.sections.size(), position);
  for (std::int64_t pair = 0; pair < pairs(encoding.rope); ++pair) {
    const Rotation expected = rope.rotation(position, pair, precision);
    const Rotation actual = reference.rotation(everywhere, pair, precision);
    EXPECT_TRUE(mpfr_equal_p(actual.sin.lower_end(), expected.sin.lower_end()));
    EXPECT_TRUE(mpfr_equal_p(actual.cos.upper_end(), expected.cos.upper_end()));
  }
}

TEST(RopeNdReference, EqualCoordinatesMakeItRope) {
  RopeNd encoding = qwen2_vl();
  expect_rope(encoding, 4242);
  encoding.sections = {24, 20, 20};
  encoding.section_order = SectionOrder::interleaved;
  expect_rope(encoding, -31);
}

TEST(RopeNdReference, OneAxisWithEverythingIsRope) {
  RopeNd encoding = qwen2_vl();
  encoding.sections = {64};
  expect_rope(encoding, 131071);
  encoding.section_order = SectionOrder::interleaved;
  expect_rope(encoding, 131071);
}

TEST(RopeNdReference, EachPairHearsItsOwnAxisOnly) {
  RopeNd encoding = qwen2_vl();
  encoding.sections = {24, 20, 20};
  encoding.section_order = SectionOrder::interleaved;
  RopeNdReference reference(encoding);
  for (std::int64_t pair = 0; pair < 64; ++pair) {
    for (std::int64_t axis = 0; axis < 3; ++axis) {
      std::vector<std::int64_t> position(3, 0);
      position[static_cast<std::size_t>(axis)] = 1;
      const bool turns = reference.rotation(position, pair, precision).angle.upper() > 0;
      EXPECT_EQ(turns, axis == (pair < 60 ? pair % 3 : 0)) << pair << " " << axis;
    }
  }
}

TEST(RopeNdReference, NeedsOneCoordinatePerAxis) {
  RopeNdReference reference(qwen2_vl());
  EXPECT_THROW(reference.rotation(std::vector<std::int64_t>{1, 2}, 0, precision), std::invalid_argument);
}

}  // namespace
}  // namespace sextant::reference
