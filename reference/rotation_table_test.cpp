#include "reference/rotation_table.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "reference/rounding.hpp"

namespace sextant::reference::rotation_table_test {
namespace {

struct Setting {
  Dtype dtype;
  double factor;
};

class Table : public testing::TestWithParam<Setting> {};

// Against the exact tier alone, at positions of every magnitude, zeros of the sine and ties of the factor included.
TEST_P(Table, IsCorrectlyRounded) {
  constexpr std::int64_t pairs = 17;
  const auto [dtype, factor] = GetParam();
  GeometricFrequencies exact(77777.25, 2, 34, pairs);
  const auto scale = [factor = factor](Precision precision) { return Enclosure(factor, precision); };
  RotationTable table(
      exact.fast(),
      [&](std::int64_t position, std::int64_t pair, Precision precision) -> const Rotation& {
        return exact.rotation(position, pair, precision);
      },
      scale, dtype);
  std::mt19937_64 random(5);
  std::vector<std::int64_t> positions{
      0, 1, -1, 355, 710, std::int64_t{1} << 40, std::int64_t{1} << 53, -(std::int64_t{1} << 53)};
  for (int i = 0; i < 150; ++i) positions.push_back(static_cast<std::int64_t>(random()) >> (10 + random() % 50));
  for (const std::int64_t position : positions) {
    const RotationTable::Row& row = table.at(position);
    for (std::int64_t pair = 0; pair < pairs; ++pair) {
      const Rotation truth = exact.rotation(position, pair, Precision{512});
      ASSERT_EQ(row.sin[static_cast<std::size_t>(pair)], *correctly_rounded(dtype, scale(Precision{512}) * truth.sin))
          << position;
      ASSERT_EQ(row.cos[static_cast<std::size_t>(pair)], *correctly_rounded(dtype, scale(Precision{512}) * truth.cos))
          << position;
    }
  }
  EXPECT_FALSE(std::signbit(table.at(0).sin[3]));  // an exact zero is +0
  EXPECT_LT(table.exact_values(), 500);            // the exact tier is the exception
}

INSTANTIATE_TEST_SUITE_P(Settings, Table,
                         testing::Values(Setting{Dtype::float64, 1}, Setting{Dtype::float64, 0.1},
                                         Setting{Dtype::float32, 1}, Setting{Dtype::float32, -0.3},
                                         Setting{Dtype::float32, 1 + 0x1p-24}, Setting{Dtype::float16, 1},
                                         Setting{Dtype::bfloat16, 1}, Setting{Dtype::bfloat16, 1.2345}),
                         [](const auto& setting) {
                           return std::string(name_of(setting.param.dtype)) + "_" + std::to_string(setting.index);
                         });

}  // namespace
}  // namespace sextant::reference::rotation_table_test
