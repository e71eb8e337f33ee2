#include "lib/kernels/coordinate_rows.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace sextant::kernels_coordinate_rows_test {
namespace {

void expect_rows(const std::vector<std::int64_t>& occurring, const std::vector<std::int64_t>& wanted) {
  const CoordinateRows found(occurring);
  EXPECT_EQ(found.coordinates(), wanted);
  for (const std::int64_t coordinate : occurring) EXPECT_EQ(found.coordinates()[found.row_of(coordinate)], coordinate);
}

TEST(CoordinateRows, EachOccursOnceInOrder) {
  expect_rows({}, {});
  expect_rows({7}, {7});
  expect_rows({3, -2, 3, 0, -2}, {-2, 0, 3});
  // One more apart than a list has room for.
  expect_rows({5, 5 + 7}, {5, 12});
  expect_rows({5, 5 + 8}, {5, 13});
  constexpr std::int64_t far = std::int64_t{1} << 53;
  expect_rows({far, -far, 0, far}, {-far, 0, far});
}

}  // namespace
}  // namespace sextant::kernels_coordinate_rows_test
