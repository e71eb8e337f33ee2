#include <gtest/gtest.h>

#include <vector>

#include "lib/kernels/digest_test.hpp"
#include "lib/kernels/target_test.hpp"
#include "lib/kernels/truth_test.hpp"
#include "lib/sinusoidal_2d/sinusoidal_2d.hpp"
#include "reference/sinusoidal_2d.hpp"

// Every value of a 64 x 64 grid, dim 64, in both layouts, both orders of the axes and all dtypes.

namespace sextant::sinusoidal_2d_sweep_test {
namespace {

Sinusoidal2d grid(Layout layout, AxisOrder order) {
  Sinusoidal2d encoding;
  encoding.dim = 64;
  encoding.height = 64;
  encoding.width = 64;
  encoding.layout = layout;
  encoding.axis_order = order;
  return encoding;
}

std::vector<std::int64_t> places() {
  std::vector<std::int64_t> list(2 * 64 * 64);
  for (std::int64_t i = 0; i < 64 * 64; ++i) {
    list[static_cast<std::size_t>(i)] = i / 64;
    list[static_cast<std::size_t>(64 * 64 + i)] = i % 64;
  }
  return list;
}

TEST(Sinusoidal2dSweep, EveryValueOfTheGridEqualsTheOracle) {
  const std::vector<std::int64_t> positions = places();
  for (const Layout layout : {Layout::interleaved, Layout::concatenated}) {
    for (const AxisOrder order : {AxisOrder::height_first, AxisOrder::width_first}) {
      const Sinusoidal2d encoding = grid(layout, order);
      reference::Sinusoidal2dReference truth(encoding);
      for (const Dtype dtype : floating_dtypes) {
        // A channel belongs to one coordinate: the oracle's values on the diagonal are those of the whole grid.
        std::vector<double> diagonal;
        for (std::int64_t i = 0; i < 64 * 64; ++i) {
          diagonal.push_back(nearest(dtype, [&](reference::Precision precision) {
            return truth.code({i / 64, i / 64}, i % 64, precision);
          }));
        }
        const Tensor table = Sinusoidal2dEncoder(encoding).encode(positions, dtype);
        for (std::int64_t i = 0; i < table.elements(); ++i) {
          const std::int64_t channel = i % 64;
          const bool of_row = (channel < 32) == (order == AxisOrder::height_first);
          const std::int64_t coordinate = of_row ? i / 64 / 64 : i / 64 % 64;
          ASSERT_EQ(table.at(i), diagonal[static_cast<std::size_t>(coordinate * 64 + channel)])
              << i / 64 / 64 << ", " << i / 64 % 64 << " channel " << channel;
        }
      }
    }
  }
}

class Sinusoidal2dSweepOn : public OnEveryTarget {};
SEXTANT_ON_EVERY_TARGET(Sinusoidal2dSweepOn);

TEST_P(Sinusoidal2dSweepOn, TablesHaveThePublishedDigests) {
  Digests digests;
  for (const Layout layout : {Layout::interleaved, Layout::concatenated}) {
    for (const AxisOrder order : {AxisOrder::height_first, AxisOrder::width_first}) {
      const Sinusoidal2dEncoder encoder(grid(layout, order));
      for (const Dtype dtype : floating_dtypes) {
        digests[std::string(name_of(dtype)) + (layout == Layout::interleaved ? " interleaved" : " concatenated") +
                (order == AxisOrder::height_first ? " height_first" : " width_first")] =
            digest_on_threads([&] { return encoder.encode(places(), dtype); });
      }
    }
  }
  expect_published("sinusoidal_2d", digests);
}

}  // namespace
}  // namespace sextant::sinusoidal_2d_sweep_test
