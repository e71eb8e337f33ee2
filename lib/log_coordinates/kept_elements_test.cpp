#include "lib/log_coordinates/kept_elements.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

#include "lib/kernels/target_test.hpp"
#include "lib/kernels/truth_test.hpp"
#include "lib/log_coordinates/log_coordinates.hpp"

// Tables that are long enough to be looked up have the values of those that are not.

namespace sextant::log_coordinates_kept_elements_test {
namespace {

class KeptElementsOn : public OnEveryTarget {};
SEXTANT_ON_EVERY_TARGET(KeptElementsOn);

// Each row's offsets, axis by axis, of the width's axes.
std::vector<std::int64_t> random_offsets(std::int64_t rows, std::int64_t width, std::int64_t most) {
  std::mt19937_64 random(static_cast<std::uint64_t>(rows * width));
  std::uniform_int_distribution<std::int64_t> offset(-most, most);
  std::vector<std::int64_t> offsets(static_cast<std::size_t>(rows * width));
  for (std::int64_t& each : offsets) each = offset(random);
  return offsets;
}

TEST_P(KeptElementsOn, LongTablesHaveTheValuesOfShortOnes) {
  for (const std::int64_t extent : {2, 31, 32, 33, 100}) {
    for (const std::int64_t width : {1, 2, 3}) {
      const LogCoordinatesEncoder encoder({std::vector<std::int64_t>(static_cast<std::size_t>(width), extent), {}});
      std::vector<std::int64_t> every;
      for (std::int64_t axis = 0; axis < width; ++axis) {
        for (std::int64_t offset = 1 - extent; offset < extent; ++offset) every.push_back(offset);
      }
      // Blocks of 512 rows, the last of them in part.
      const std::int64_t rows = 512 + 4 * extent + 37;
      const std::vector<std::int64_t> kept = random_offsets(rows, width, extent - 1);
      std::vector<std::int64_t> beyond = kept;
      beyond[static_cast<std::size_t>(rows - 1)] = extent + 2;
      for (const Dtype dtype : floating_dtypes) {
        const Tensor short_table = encoder.encode(every, dtype);
        const Tensor table = encoder.encode(kept, dtype);
        const Tensor with_beyond = encoder.encode(beyond, dtype);
        for (std::int64_t i = 0; i < rows * width; ++i) {
          const std::int64_t offset = kept[static_cast<std::size_t>(i % width * rows + i / width)];
          const double wanted = short_table.at((offset + extent - 1) * width + i % width);
          ASSERT_EQ(table.at(i), wanted) << extent << " " << width << " " << name_of(dtype) << " row " << i / width;
          if (i != (rows - 1) * width) {
            ASSERT_EQ(with_beyond.at(i), wanted);
          }
        }
        const std::vector<std::int64_t> alone(static_cast<std::size_t>(width), extent + 2);
        EXPECT_EQ(with_beyond.at((rows - 1) * width), encoder.encode(alone, dtype).at(0));
      }
    }
  }
}

}  // namespace
}  // namespace sextant::log_coordinates_kept_elements_test
