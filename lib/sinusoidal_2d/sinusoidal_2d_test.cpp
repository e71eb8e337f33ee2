#include "lib/sinusoidal_2d/sinusoidal_2d.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "lib/kernels/table_rows_test.hpp"
#include "lib/kernels/truth_test.hpp"
#include "reference/sinusoidal_2d.hpp"

namespace sextant::sinusoidal_2d_test {
namespace {

Sinusoidal2d grid(std::int64_t dim, std::int64_t height, std::int64_t width) {
  Sinusoidal2d encoding;
  encoding.dim = dim;
  encoding.height = height;
  encoding.width = width;
  return encoding;
}

// All places of the grid, as [2, n].
std::vector<std::int64_t> places(const Sinusoidal2d& encoding) {
  std::vector<std::int64_t> rows;
  std::vector<std::int64_t> columns;
  for (std::int64_t row = 0; row < encoding.height; ++row) {
    for (std::int64_t column = 0; column < encoding.width; ++column) {
      rows.push_back(row);
      columns.push_back(column);
    }
  }
  rows.insert(rows.end(), columns.begin(), columns.end());
  return rows;
}

void expect_truth(const Sinusoidal2d& encoding, const std::vector<std::int64_t>& positions) {
  const Sinusoidal2dEncoder encoder(encoding);
  reference::Sinusoidal2dReference truth(encoding);
  const std::int64_t count = std::ssize(positions) / 2;
  for (const Dtype dtype : floating_dtypes) {
    const Tensor table = encoder.encode(positions, dtype);
    ASSERT_EQ(table.shape, (std::vector<std::int64_t>{count, encoding.dim}));
    for (std::int64_t token = 0; token < count; ++token) {
      const reference::GridPosition place{positions[static_cast<std::size_t>(token)],
                                          positions[static_cast<std::size_t>(count + token)]};
      for (std::int64_t channel = 0; channel < encoding.dim; ++channel) {
        ASSERT_EQ(table.at(token * encoding.dim + channel),
                  nearest(dtype, [&](reference::Precision precision) { return truth.code(place, channel, precision); }))
            << place.row << ", " << place.column << " channel " << channel << " " << name_of(dtype);
      }
    }
  }
}

TEST(Sinusoidal2dEncoder, EqualsTheOracleOnAWholeGrid) {
  expect_truth(grid(32, 14, 9), places(grid(32, 14, 9)));
  Sinusoidal2d other = grid(16, 3, 5);
  other.layout = Layout::concatenated;
  other.axis_order = AxisOrder::width_first;
  other.base = 77777.25;
  expect_truth(other, places(other));
}

TEST(Sinusoidal2dEncoder, EqualsTheOracleFarFromTheGrid) {
  const std::int64_t far = std::int64_t{1} << 53;
  expect_truth(grid(8, 2, 2), {far, -far, 1 << 30, 131071, -1, 0, 7, far - 1, -far, 3});
  Sinusoidal2d slow = grid(24, 2, 2);
  slow.base = 1e300;  // frequencies down to 1e-250, phases below any fixed point
  expect_truth(slow, {1, 1000, far, 2, -5, 77});
}

TEST(Sinusoidal2dEncoder, TheSameBitsOnAnyNumberOfThreads) {
  const Sinusoidal2dEncoder encoder(grid(128, 40, 40));
  expect_same_on_threads([&] { return encoder.encode(places(grid(128, 40, 40)), Dtype::float32); });
}

TEST(Sinusoidal2dEncoder, RefusesWhatItDoesNotHave) {
  EXPECT_THROW(Sinusoidal2dEncoder(grid(6, 2, 2)), SpecError);
  const Sinusoidal2dEncoder encoder(grid(8, 2, 2));
  EXPECT_THROW(encoder.encode(std::vector<std::int64_t>{1}, Dtype::float32), std::invalid_argument);
  EXPECT_THROW(encoder.encode({}, Dtype::int64), std::invalid_argument);
  EXPECT_THROW(encoder.encode(std::vector<std::int64_t>{0, (std::int64_t{1} << 53) + 1}, Dtype::float32),
               std::out_of_range);
  std::vector<std::byte> memory(31);
  EXPECT_THROW(encoder.encode(std::vector<std::int64_t>{0, 0}, Dtype::float32, memory), std::invalid_argument);
}

TEST(Sinusoidal2dEncoder, WritesItsRowsAndNothingElse) {
  const std::vector<std::int64_t> positions{0, 5, 131071, -7, 2, 5, 5, 5, 0, 1};
  for (const Dtype dtype : floating_dtypes) {
    for (const std::int64_t dim : {4, 8, 36, 68}) {
      const Sinusoidal2dEncoder encoder(grid(dim, 2, 2));
      expect_only_its_rows(encoder.encode(positions, dtype), [&](const Rows& out) { encoder.encode(positions, out); });
    }
  }
  std::vector<std::byte> memory(64);
  expect_refusals({Dtype::float32, memory.data(), 2, 4, 5}, [](const Rows& out) {
    Sinusoidal2dEncoder(grid(4, 2, 2)).encode(std::vector<std::int64_t>{1, 2, 3, 4}, out);
  });
}

}  // namespace
}  // namespace sextant::sinusoidal_2d_test
