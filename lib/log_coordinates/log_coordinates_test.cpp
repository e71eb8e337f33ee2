#include "lib/log_coordinates/log_coordinates.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "lib/kernels/digest_test.hpp"
#include "lib/kernels/table_rows_test.hpp"
#include "lib/kernels/truth_test.hpp"
#include "reference/log_coordinates.hpp"

namespace sextant::log_coordinates_test {
namespace {

void expect_truth(const LogCoordinates& encoding, const std::vector<std::int64_t>& offsets) {
  const LogCoordinatesEncoder encoder(encoding);
  const std::int64_t width = axes(encoding);
  const std::int64_t rows = std::ssize(offsets) / width;
  for (const Dtype dtype : floating_dtypes) {
    const Tensor table = encoder.encode(offsets, dtype);
    ASSERT_EQ(table.shape, (std::vector<std::int64_t>{rows, width}));
    for (std::int64_t i = 0; i < table.elements(); ++i) {
      const std::int64_t offset = offsets[static_cast<std::size_t>(i % width * rows + i / width)];
      const double truth = nearest(dtype, [&](reference::Precision precision) {
        return reference::log_coordinate(encoding, i % width, offset, precision);
      });
      ASSERT_EQ(table.at(i), truth) << "axis " << i % width << " offset " << offset << " " << name_of(dtype);
      ASSERT_FALSE(table.at(i) == 0 && std::signbit(table.at(i)));
    }
  }
}

// Offsets first to last - 1 on every axis, the second half of each behind the first on every other one.
std::vector<std::int64_t> on_axes(std::int64_t number_of_axes, std::int64_t first, std::int64_t last) {
  std::vector<std::int64_t> offsets;
  for (std::int64_t axis = 0; axis < number_of_axes; ++axis) {
    for (std::int64_t i = 0; i < last - first; ++i)
      offsets.push_back(first + (i * (axis + 1) + 5 * axis) % (last - first));
  }
  return offsets;
}

TEST(LogCoordinatesEncoder, EveryOffsetOfEveryWindowEqualsTheOracle) {
  for (std::int64_t extent = 2; extent <= 64; ++extent) expect_truth({{extent}, {}}, on_axes(1, 1 - extent, extent));
  expect_truth({{8, 12}, {}}, on_axes(2, -11, 12));
  expect_truth({{24, 24}, {12, 6}}, on_axes(2, -23, 24));
  expect_truth({{3, 5, 9}, {17, 2, 6}}, on_axes(3, -8, 9));
}

// 1 + 8 d / m a power of two, of which each third is a whole coordinate.
TEST(LogCoordinatesEncoder, PowersOfTwoEqualTheOracle) {
  for (const std::int64_t divisor : {std::int64_t{8}, std::int64_t{24}, std::int64_t{1} << 19}) {
    std::vector<std::int64_t> offsets;
    for (int k = 1; divisor / 8 * ((std::int64_t{1} << k) - 1) < std::int64_t{1} << 53 && k < 53; ++k) {
      const std::int64_t offset = divisor / 8 * ((std::int64_t{1} << k) - 1);
      for (const std::int64_t beside : {offset - 1, offset, offset + 1})
        offsets.insert(offsets.end(), {beside, -beside});
    }
    expect_truth({{divisor + 1}, {}}, offsets);
    EXPECT_EQ(LogCoordinatesEncoder({{divisor + 1}, {}}).encode(std::vector{divisor / 8 * 7}, Dtype::float64).at(0), 1);
  }
}

// The values of 1024 offsets are kept, and those of no window's end.
TEST(LogCoordinatesEncoder, OffsetsBesideWhatIsKeptEqualTheOracle) {
  constexpr std::int64_t far = std::int64_t{1} << 53;
  for (const std::int64_t extent :
       {std::int64_t{2}, std::int64_t{1023}, std::int64_t{1024}, std::int64_t{1025}, std::int64_t{1} << 20}) {
    std::vector<std::int64_t> offsets{0, 1, -1, far, -far, far - 1, 131071, -65521};
    for (std::int64_t offset = 1020; offset < 1030; ++offset) offsets.push_back(offset);
    for (std::int64_t beside = -2; beside <= 2; ++beside) offsets.push_back(extent + beside);
    expect_truth({{extent}, {}}, offsets);
  }
}

TEST(LogCoordinatesEncoder, RefusesWhatDoesNotFit) {
  EXPECT_THROW(LogCoordinatesEncoder({{}, {}}), SpecError);
  EXPECT_THROW(LogCoordinatesEncoder({{8, 1}, {}}), SpecError);
  EXPECT_THROW(LogCoordinatesEncoder({{8, 8}, {8}}), SpecError);
  const LogCoordinatesEncoder encoder({{8, 8}, {}});
  const std::vector<std::int64_t> one{3, -3};
  std::vector<std::byte> memory(8);
  EXPECT_NO_THROW(encoder.encode(one, Dtype::float32, memory));
  EXPECT_THROW(encoder.encode(one, Dtype::int64, memory), std::invalid_argument);
  EXPECT_THROW(encoder.encode(one, Dtype::float64, memory), std::invalid_argument);
  EXPECT_THROW(encoder.encode(std::vector<std::int64_t>{1}, Dtype::float32), std::invalid_argument);
  EXPECT_THROW(encoder.encode(std::vector<std::int64_t>{(std::int64_t{1} << 53) + 1, 0}, Dtype::float32),
               std::out_of_range);
  EXPECT_EQ(encoder.encode({}, Dtype::float16).shape, (std::vector<std::int64_t>{0, 2}));
}

TEST(LogCoordinatesEncoder, WritesItsRowsAndNothingElse) {
  for (const Dtype dtype : floating_dtypes) {
    for (std::int64_t width = 1; width <= 3; ++width) {
      const LogCoordinatesEncoder encoder({std::vector<std::int64_t>(static_cast<std::size_t>(width), 9), {}});
      const std::vector<std::int64_t> offsets = on_axes(width, -4, 5);
      expect_only_its_rows(encoder.encode(offsets, dtype), [&](const Rows& out) { encoder.encode(offsets, out); });
    }
  }
}

TEST(LogCoordinatesEncoder, TablesHaveThePublishedDigests) {
  Digests digests;
  for (const auto& [name, encoding] :
       std::vector<std::pair<std::string, LogCoordinates>>{{"8 x 12", {{8, 12}, {}}},
                                                           {"24 x 24 pretrained 12 x 6", {{24, 24}, {12, 6}}},
                                                           {"41 x 7 x 2", {{41, 7, 2}, {}}}}) {
    const LogCoordinatesEncoder encoder(encoding);
    for (const Dtype dtype : floating_dtypes) {
      digests[std::string(name_of(dtype)) + " " + name] =
          digest_on_threads([&] { return encoder.encode(on_axes(axes(encoding), -40, 41), dtype); });
    }
  }
  expect_published("log_coordinates", digests);
}

}  // namespace
}  // namespace sextant::log_coordinates_test
