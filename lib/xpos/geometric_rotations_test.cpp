#include "lib/xpos/geometric_rotations.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "lib/numeric/environment_test.hpp"

namespace sextant::xpos_geometric_rotations_test {
namespace {

// What turns pairs one by one has the same bits without an encoder around it.
TEST(StandardArithmetic, SingleTurnsAreMadeInIt) {
  const GeometricRotations rotations(10000, 8, 4);
  const auto combined = [&] {
    GeometricRotations::Turn turn = rotations.at(1, 12345);
    GeometricRotations::Turn scaled = rotations.at(2, 777, {2, 7, 777, 512});
    return std::vector<double>{turn.combine(Dtype::float32, 1e-40, -3e-41), scaled.combine(Dtype::float64, 0.3, 0.7)};
  };
  const std::vector<double> expected = combined();
  for (const Environment& environment : environments()) {
    EXPECT_EQ(in(environment, combined), expected) << environment.name;
  }
}

}  // namespace
}  // namespace sextant::xpos_geometric_rotations_test
