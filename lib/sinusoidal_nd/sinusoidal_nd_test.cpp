#include "lib/sinusoidal_nd/sinusoidal_nd.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <vector>

#include "lib/kernels/table_rows_test.hpp"
#include "lib/kernels/truth_test.hpp"
#include "lib/sinusoidal_nd/specs_test.hpp"
#include "reference/sinusoidal_nd.hpp"

namespace sextant::sinusoidal_nd_test {
namespace {

void expect_truth(const SinusoidalNd& encoding, const std::vector<std::int64_t>& positions) {
  const SinusoidalNdEncoder encoder(encoding);
  reference::SinusoidalNdReference truth(encoding);
  const std::int64_t count = std::ssize(positions) / axes(encoding);
  for (const Dtype dtype : floating_dtypes) {
    const Tensor table = encoder.encode(positions, dtype);
    ASSERT_EQ(table.shape, (std::vector<std::int64_t>{count, encoding.dim}));
    for (std::int64_t token = 0; token < count; ++token) {
      std::vector<std::int64_t> place;
      for (std::int64_t axis = 0; axis < axes(encoding); ++axis)
        place.push_back(positions[static_cast<std::size_t>(axis * count + token)]);
      for (std::int64_t channel = 0; channel < encoding.dim; ++channel) {
        const double value = table.at(token * encoding.dim + channel);
        const double wanted =
            nearest(dtype, [&](reference::Precision precision) { return truth.code(place, channel, precision); });
        ASSERT_EQ(value, wanted) << "token " << token << " channel " << channel << " " << name_of(dtype);
        ASSERT_EQ(std::signbit(value), std::signbit(wanted))
            << "token " << token << " channel " << channel << " " << name_of(dtype);
      }
    }
  }
}

TEST(SinusoidalNdEncoder, EqualsTheOracleOnWholeGrids) {
  for (const NamedPlaces& named : every_kind_of_places()) {
    SCOPED_TRACE(named.name);
    const std::vector<std::int64_t> all = all_places(named.encoding());
    const std::int64_t count = axes(named.encoding());
    const std::int64_t cells = std::ssize(all) / count;
    // Every eleventh, which meets every coordinate.
    std::vector<std::int64_t> some;
    for (std::int64_t axis = 0; axis < count; ++axis) {
      for (std::int64_t cell = 0; cell<cells; cell += cells> 200 ? 11 : 1)
        some.push_back(all[static_cast<std::size_t>(axis * cells + cell)]);
    }
    expect_truth(named.encoding(), some);
  }
}

TEST(SinusoidalNdEncoder, EqualsTheOracleFarFromTheGrid) {
  const std::int64_t far = std::int64_t{1} << 53;
  for (const NamedPlaces& named : every_kind_of_places()) {
    SCOPED_TRACE(named.name);
    std::vector<std::int64_t> positions;
    for (std::int64_t axis = 0; axis < axes(named.encoding()); ++axis) {
      for (const std::int64_t position : {far, -far, far - 7 - axis, std::int64_t{131071}, std::int64_t{-1}})
        positions.push_back(position);
    }
    expect_truth(named.encoding(), positions);
  }
}

TEST(SinusoidalNdEncoder, QuartersOfATurnAreExactAndNeighboursAreNot) {
  SinusoidalNd encoding;
  encoding.dim = 4;
  encoding.extents = {9};
  encoding.channels = {4};
  encoding.base = 4;  // w = 1, 1/2
  encoding.coordinates = Coordinates::normalized;
  const std::vector<std::int64_t> positions{0, 2, 4, 6, 8, -2, 16, 12};
  const double quarters[][4] = {{0, 1, 0, 1},  {1, 0, 0, 0},  {0, -1, 1, 0}, {-1, 0, 0, 0},
                                {0, 1, 0, -1}, {-1, 0, 0, 0}, {0, 1, 0, 1},  {0, -1, -1, 0}};
  for (const Dtype dtype : floating_dtypes) {
    const Tensor table = SinusoidalNdEncoder(encoding).encode(positions, dtype);
    for (std::int64_t row = 0; row < 8; ++row) {
      for (std::int64_t channel = 0; channel < 4; ++channel) {
        // Pair 1 is at an eighth where 4 does not divide the position.
        if (channel >= 2 && positions[static_cast<std::size_t>(row)] % 4 != 0) continue;
        const double value = table.at(row * 4 + channel);
        EXPECT_EQ(value, quarters[row][channel]) << row << " " << channel;
        EXPECT_FALSE(value == 0 && std::signbit(value)) << row << " " << channel;
      }
    }
  }
  encoding.epsilon = 0x1p-1074;
  // 2 pi (1 - 2^-1077): the sine is -0.79 of the least double, and a zero of float32 with the sign of the truth.
  const std::vector<std::int64_t> turns{8, -8};
  EXPECT_EQ(SinusoidalNdEncoder(encoding).encode(turns, Dtype::float64).at(0), -0x1p-1074);
  const Tensor beside = SinusoidalNdEncoder(encoding).encode(turns, Dtype::float32);
  EXPECT_TRUE(beside.at(0) == 0 && std::signbit(beside.at(0)));
  EXPECT_TRUE(beside.at(4) == 0 && !std::signbit(beside.at(4)));
}

TEST(SinusoidalNdEncoder, TheSameBitsOnAnyNumberOfThreads) {
  const SinusoidalNd film = every_kind_of_places().front().encoding();
  const SinusoidalNdEncoder encoder(film);
  expect_same_on_threads([&] { return encoder.encode(all_places(film), Dtype::float32); });
}

TEST(SinusoidalNdEncoder, RefusesWhatItDoesNotHave) {
  SinusoidalNd encoding = every_kind_of_places().front().encoding();
  const SinusoidalNdEncoder encoder(encoding);
  EXPECT_THROW(encoder.encode(std::vector<std::int64_t>{1, 2}, Dtype::float32), std::invalid_argument);
  EXPECT_THROW(encoder.encode({}, Dtype::int64), std::invalid_argument);
  EXPECT_THROW(encoder.encode(std::vector<std::int64_t>{0, 0, (std::int64_t{1} << 53) + 1}, Dtype::float32),
               std::out_of_range);
  std::vector<std::byte> memory(31);
  EXPECT_THROW(encoder.encode(std::vector<std::int64_t>{0, 0, 0}, Dtype::float32, memory), std::invalid_argument);
  encoding.channels.front() = 15;
  EXPECT_THROW(SinusoidalNdEncoder{encoding}, SpecError);
}

TEST(SinusoidalNdEncoder, WritesItsRowsAndNothingElse) {
  for (const NamedPlaces& named : every_kind_of_places()) {
    const SinusoidalNdEncoder encoder(named.encoding());
    std::vector<std::int64_t> positions;
    for (std::int64_t i = 0; i < 5 * axes(named.encoding()); ++i) positions.push_back(i * 37 % 11 - 2);
    for (const Dtype dtype : floating_dtypes)
      expect_only_its_rows(encoder.encode(positions, dtype), [&](const Rows& out) { encoder.encode(positions, out); });
  }
}

}  // namespace
}  // namespace sextant::sinusoidal_nd_test
