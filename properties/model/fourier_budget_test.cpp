#include "properties/model/fourier_budget.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>
#include <variant>

#include "reference/fourier.hpp"

// In roundoffs (docs/proofs/accuracy-classes.md, steps 19 to 23).

namespace sextant::model_fourier_budget_test {
namespace {

Spec spec_of(const char* fields) { return parse_spec(std::string(R"({"encoding":"fourier",)") + fields + "}"); }

FourierRoundings roundings(const Spec& spec) { return {arithmetic_of(spec), std::get<Fourier>(spec.encoding)}; }

TEST(FourierRoundings, OfCoordinates) {
  EXPECT_EQ(roundings(spec_of(R"("bands":4)")).of_quotient(0), 0);
  const Spec centres = spec_of(R"("bands":4,"coordinates":"centres","extents":[64,1048576])");
  EXPECT_EQ(roundings(centres).of_quotient(0), 3);
  EXPECT_EQ(roundings(centres).of_quotient(1), 3);
  EXPECT_EQ(roundings(spec_of(R"("bands":4,"coordinates":"ends","extents":[224])")).of_quotient(0), 2);
  // More counts than the format has.
  const char* narrow = R"("bands":4,"coordinates":"centres","extents":[64,200],"accuracy":"bfloat16-angle")";
  EXPECT_EQ(roundings(spec_of(narrow)).of_quotient(0), 3);
  EXPECT_EQ(roundings(spec_of(narrow)).of_quotient(1), 5);
}

TEST(FourierRoundings, OfAngles) {
  constexpr double ln2 = std::numbers::ln2;
  // pow's 2, the product, the quarter that a cosine may be ahead by, and the position.
  const Spec nerf = spec_of(R"("axes":3,"bands":10)");
  EXPECT_EQ(roundings(nerf).of_angle(0, 0), 5);
  EXPECT_NEAR(roundings(nerf).of_angle(2, 9), 5 + 18 * ln2, 1e-12);
  const Spec nerfstudio = spec_of(R"("axes":3,"bands":10,"highest":8,"angle_unit":"turn")");
  EXPECT_EQ(roundings(nerfstudio).of_angle(0, 0), 7);
  EXPECT_NEAR(roundings(nerfstudio).of_angle(0, 9), 7 + (24 + 8 + 16) * ln2, 1e-12);
  const Spec uneven = spec_of(R"("bands":2,"lowest":0,"highest":0.1)");
  EXPECT_NEAR(roundings(uneven).of_angle(0, 1), 5 + (0.3 + 0.1 + 0.2 + 0.2) * ln2, 1e-12);
  const char* perceiver =
      R"("bands":64,"ladder":"linear","highest":112,"angle_unit":"half_turn","coordinates":"ends","extents":[224])";
  EXPECT_NEAR(roundings(spec_of(perceiver)).of_angle(0, 63), 2 + 2 + 3 + (3 * 111 + 112) / 112.0, 1e-12);
  const Spec sam = spec_of(R"("bands":8,"ladder":"weight","coordinates":"centres","extents":[64,64])");
  EXPECT_EQ(roundings(sam).of_angle(0, 3), 10);  // weight, product, sum, two of the unit, quarter, four of a coordinate
}

// Two weights below the least normal number: products that are rounded in each order are within the bound, and as far
// from the truth as several roundings of a plain one would not be.
TEST(FourierRoundings, OfSubnormalProducts) {
  const Spec given = spec_of(R"("axes":2,"bands":1,"ladder":"weight","angle_unit":"turn")");
  const double of_underflow = roundings(given).of_underflow() * unit_roundoff(Dtype::float32);
  const auto in_float32 = [](double x) { return static_cast<double>(static_cast<float>(x)); };
  constexpr double turn = 2 * std::numbers::pi;
  double most = 0;
  for (int i = 1; i < 2000; ++i) {
    const double weights[] = {i * 0x1p-149, (2003 - i) * 0x1p-149};
    const double coordinates[] = {(i % 64 + 0.5) / 64, (i % 48 + 0.5) / 48};
    double truth = 0;
    double products_first = 0;
    double turns_first = 0;
    for (int axis = 0; axis < 2; ++axis) {
      const double coordinate = in_float32(coordinates[axis]);
      truth += turn * weights[axis] * coordinate;
      products_first = in_float32(products_first + in_float32(weights[axis] * coordinate));
      turns_first = in_float32(turns_first + in_float32(in_float32(turn * weights[axis]) * coordinate));
    }
    const double bound = of_underflow * (2 + coordinates[0] + coordinates[1]);
    for (const double got : {in_float32(turn * products_first), turns_first}) {
      ASSERT_LE(std::fabs(got - truth), bound) << i;
      most = std::max(most, std::fabs(got - truth) / bound);
    }
  }
  EXPECT_GT(most, 0.1);
  EXPECT_EQ(roundings(spec_of(R"("bands":4,"accuracy":"faithful")")).of_underflow(), 0);
}

TEST(FourierRoundings, OfCoordinatesInTheRow) {
  const auto bound = [](const char* fields, std::int64_t position) {
    const Spec spec = spec_of(fields);
    const reference::FourierReference oracle(std::get<Fourier>(spec.encoding));
    return roundings(spec).coordinate_bound(0, oracle.coordinate(0, position, reference::first_precision)).upper();
  };
  constexpr double u = 0x1p-24;
  EXPECT_NEAR(bound(R"("bands":1)", 3), 0.5 * 0x1p-22 + 3 * u, 1e-12);
  EXPECT_EQ(bound(R"("bands":1)", 0), 0x1p-150);
  EXPECT_NEAR(bound(R"("bands":1,"dtype":"bfloat16")", 3), (0.5 + 0x1p-16) * 0x1p-6 + 3 * u, 1e-9);
  // The middle of the middle cell is 0, where roundings of one half are as large as ever.
  EXPECT_NEAR(bound(R"("bands":1,"coordinates":"centres","extents":[3])", 1), 3 * u, 1e-13);
}

}  // namespace
}  // namespace sextant::model_fourier_budget_test
