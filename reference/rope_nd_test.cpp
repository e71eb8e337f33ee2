#include "reference/rope_nd.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <utility>
#include <vector>

#include "reference/decimal.hpp"

namespace sextant::reference::rope_nd_test {
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

RopeNd dinov3(std::vector<std::int64_t> extents) {
  RopeNd encoding;
  encoding.rope.head_dim = encoding.rope.rotary_dim = 64;
  encoding.rope.rope_theta = 100;
  encoding.sections = {16, 16};
  encoding.frequencies = AxisFrequencies::per_axis;
  encoding.coordinates = Coordinates::normalized;
  encoding.extents = std::move(extents);
  return encoding;
}

// By mpmath 1.3 at 400 bits: 2 pi (2 p + 1 - E)/E 100^(-k/16).
TEST(RopeNdReference, NormalizedCoordinatesAgreeWithAnIndependentComputation) {
  RopeNdReference reference(dinov3({14, 23}));
  const std::vector<std::int64_t> position{3, 20};
  const Rotation row = reference.rotation(position, 3, Precision{256});
  EXPECT_TRUE(agrees_with(row.sin, "-0.969894846265394812971653633528"));
  EXPECT_TRUE(agrees_with(row.cos, "0.243524099809086988475547612671"));
  const Rotation column = reference.rotation(position, 21, Precision{256});
  EXPECT_TRUE(agrees_with(column.sin, "0.919210105505128313558406752293"));
  EXPECT_TRUE(agrees_with(column.cos, "0.393767421122229047284378381859"));
}

// By mpmath 1.3 at 400 bits: 2 pi s ((2 p + 1 - E)/E + m) 100^(-k/16).
TEST(RopeNdReference, MovedCoordinatesAgreeWithAnIndependentComputation) {
  RopeNd encoding = dinov3({14, 23});
  encoding.coordinate_shifts = {0.125, -0.3125};
  encoding.coordinate_scales = {1.21875, 1.3};
  RopeNdReference reference(encoding);
  const std::vector<std::int64_t> position{3, 20};
  const Rotation row = reference.rotation(position, 3, Precision{256});
  EXPECT_TRUE(agrees_with(row.sin, "-0.935950509098403689149882481017"));
  EXPECT_TRUE(agrees_with(row.cos, "0.35213157273729226493797076967"));
  const Rotation column = reference.rotation(position, 21, Precision{256});
  EXPECT_TRUE(agrees_with(column.sin, "0.789863948671538811803668481753"));
  EXPECT_TRUE(agrees_with(column.cos, "0.61328210685540524849780005592"));
}

// LTX-Video's, by mpmath 1.3 at 400 bits: pi/2 10000^(k/3) (2 g - 1), g = 8 p/(25 20) of a frame, 32 p/2048 of a patch.
TEST(RopeNdReference, ALadderWithBothEndsAgreesWithAnIndependentComputation) {
  RopeNd encoding;
  encoding.rope.head_dim = encoding.rope.rotary_dim = 24;
  encoding.sections = {4, 4, 4};
  encoding.section_order = SectionOrder::interleaved;
  encoding.frequencies = AxisFrequencies::per_axis;
  encoding.ladder = LadderShape::both_ends;
  encoding.coordinates = Coordinates::normalized_starts;
  encoding.extents = {125, 64, 64};
  encoding.coordinate_shifts = {0.5, 0, 0};
  encoding.coordinate_scales = {0.5, 0.25, 0.25};
  RopeNdReference reference(encoding);
  const auto expect = [&](const std::vector<std::int64_t>& position, std::int64_t pair, const char* sine,
                          const char* cosine) {
    const Rotation rotation = reference.rotation(position, pair, Precision{256});
    EXPECT_TRUE(agrees_with(rotation.sin, sine)) << pair;
    EXPECT_TRUE(agrees_with(rotation.cos, cosine)) << pair;
  };
  expect({3, 20, 5}, 6, "0.588254639770704917087876882860", "0.808675756275800686162675079802");
  expect({3, 20, 5}, 4, "-0.123977436710467556519029420711", "0.992285037268375830797890767248");
  // A whole number of eighths of a turn: 10000 (10/64 - 1) / 4 turns.
  const Rotation eighths = reference.rotation({{3, 20, 5}}, 11, Precision{256});
  EXPECT_TRUE(eighths.is_diagonal);
  EXPECT_TRUE(agrees_with(eighths.sin, "-0.707106781186547524400844362105"));
  const Rotation quarter = reference.rotation({{0, 20, 5}}, 0, Precision{256});
  EXPECT_TRUE(quarter.sin.upper() == -1 && quarter.cos.upper() == 0 && quarter.cos.lower() == 0);
}

// Scales may make whole 24ths of other counts, and shifts too.
TEST(RopeNdReference, PartsOfATurnOfMovedCoordinatesAreExact) {
  RopeNd encoding = dinov3({3, 5});
  encoding.coordinate_shifts = {0.25, 0.5};
  encoding.coordinate_scales = {1.5, 1.25};
  RopeNdReference reference(encoding);
  const auto at = [&](std::int64_t row, std::int64_t column, std::int64_t pair) {
    return reference.rotation(std::vector<std::int64_t>{row, column}, pair, precision);
  };
  EXPECT_TRUE(at(1, 0, 0).is_diagonal);  // 1.5 (0 + 1/4) = 3/8
  const Rotation column = at(0, 4, 16);  // 1.25 (4/5 + 1/2) = 13/8
  EXPECT_TRUE(column.is_diagonal);
  EXPECT_TRUE(at(0, 2, 16).is_diagonal);  // 1.25 / 2 = 5/8
  EXPECT_TRUE(at(2, 0, 0).is_diagonal);   // 1.5 (2/3 + 1/4) = 11/8
  EXPECT_FALSE(at(1, 0, 1).is_diagonal);  // of frequency 100^(-1/16)
}

bool is_point(const Enclosure& value, double point) { return value.lower() == point && value.upper() == point; }

// Pair 0 has frequency 1, pair 8 has 100^(-8/16) = 1/10.
TEST(RopeNdReference, PartsOfATurnAreExact) {
  RopeNdReference reference(dinov3({24, 6}));
  const auto at = [&](std::int64_t row, std::int64_t column, std::int64_t pair) {
    return reference.rotation(std::vector<std::int64_t>{row, column}, pair, precision);
  };
  // Counts 2p - 23 of 24ths, and 2p - 5 of sixths.
  EXPECT_TRUE(at(13, 0, 0).is_diagonal);  // 3/24
  EXPECT_FALSE(at(12, 0, 0).is_diagonal);
  const Rotation half_turn = at(0, 4, 16);  // 3/6
  EXPECT_TRUE(is_point(half_turn.sin, 0) && is_point(half_turn.cos, -1));
  const Rotation sixth = at(0, 3, 16);
  EXPECT_TRUE(is_point(sixth.cos, 0.5));
  EXPECT_FALSE(is_point(sixth.sin, 0.8660254037844386));
  // Of a tenth of that, 5/(6 10) = 1/12.
  EXPECT_TRUE(
      is_point(RopeNdReference(dinov3({6, 6})).rotation(std::vector<std::int64_t>{5, 5}, 8, precision).sin, 0.5));
}

TEST(RopeNdReference, NeedsOneCoordinatePerAxis) {
  RopeNdReference reference(qwen2_vl());
  EXPECT_THROW(reference.rotation(std::vector<std::int64_t>{1, 2}, 0, precision), std::invalid_argument);
}

}  // namespace
}  // namespace sextant::reference::rope_nd_test
