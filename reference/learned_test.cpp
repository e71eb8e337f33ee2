#include "reference/learned.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "reference/decimal.hpp"

namespace sextant::reference::learned_test {
namespace {

constexpr Precision precision{128};

TEST(LearnedReference, IsTheRowOfTheWeight) {
  const Learned encoding{.dim = 3, .max_positions = 4};
  Tensor weight = Tensor::zeros(Dtype::float32, {4, 3});
  for (std::int64_t i = 0; i < 12; ++i) weight.set(i, 0.1 * static_cast<double>(i));
  for (std::int64_t i = 0; i < 12; ++i)
    EXPECT_TRUE(is_exactly(code(encoding, weight, i / 3, i % 3, precision), weight.at(i)));
  EXPECT_THROW(code(encoding, weight, 4, 0, precision), std::out_of_range);
  EXPECT_THROW(code(encoding, weight, -1, 0, precision), std::out_of_range);
  EXPECT_THROW(code(encoding, weight, 0, 3, precision), std::out_of_range);
  EXPECT_THROW(code(encoding, Tensor::zeros(Dtype::float32, {3, 4}), 0, 0, precision), std::invalid_argument);
}

}  // namespace
}  // namespace sextant::reference::learned_test
