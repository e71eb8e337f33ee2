#include "lib/fourier/fourier.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <vector>

#include "lib/fourier/specs_test.hpp"
#include "lib/kernels/table_rows_test.hpp"
#include "lib/kernels/truth_test.hpp"
#include "reference/fourier.hpp"

namespace sextant::fourier_test {
namespace {

Tensor features(const FourierEncoder& encoder, const Fourier& encoding, const std::vector<std::int64_t>& positions,
                Dtype dtype) {
  return is_given(encoding) ? encoder.encode(positions, some_matrix(encoding, dtype))
                            : encoder.encode(positions, dtype);
}

void expect_truth(const Fourier& encoding, const std::vector<std::int64_t>& positions, const Tensor& table,
                  reference::FourierReference& truth) {
  const std::int64_t count = std::ssize(positions) / encoding.axes;
  ASSERT_EQ(table.shape, (std::vector<std::int64_t>{count, width(encoding)}));
  for (std::int64_t token = 0; token < count; ++token) {
    std::vector<std::int64_t> place;
    for (std::int64_t axis = 0; axis < encoding.axes; ++axis)
      place.push_back(positions[static_cast<std::size_t>(axis * count + token)]);
    for (std::int64_t channel = 0; channel < width(encoding); ++channel) {
      const double value = table.at(token * width(encoding) + channel);
      const double wanted =
          nearest(table.dtype, [&](reference::Precision precision) { return truth.code(place, channel, precision); });
      ASSERT_EQ(value, wanted) << "token " << token << " channel " << channel << " " << name_of(table.dtype);
      ASSERT_EQ(std::signbit(value), std::signbit(wanted))
          << "token " << token << " channel " << channel << " " << name_of(table.dtype);
    }
  }
}

void expect_truth(const Fourier& encoding, const std::vector<std::int64_t>& positions) {
  const FourierEncoder encoder(encoding);
  for (const Dtype dtype : floating_dtypes) {
    auto truth = is_given(encoding) ? reference::FourierReference(encoding, some_matrix(encoding, dtype))
                                    : reference::FourierReference(encoding);
    expect_truth(encoding, positions, features(encoder, encoding, positions, dtype), truth);
  }
}

TEST(FourierEncoder, EqualsTheOracle) {
  for (const NamedFeatures& named : every_kind_of_features()) {
    SCOPED_TRACE(named.name);
    expect_truth(named.encoding(), some_places(named.encoding(), 60));
  }
}

TEST(FourierEncoder, EqualsTheOracleFarAway) {
  const std::int64_t far = std::int64_t{1} << 53;
  for (const NamedFeatures& named : every_kind_of_features()) {
    SCOPED_TRACE(named.name);
    const Fourier encoding = named.encoding();
    if (!encoding.extents.empty()) continue;
    std::vector<std::int64_t> positions;
    for (std::int64_t axis = 0; axis < encoding.axes; ++axis) {
      for (const std::int64_t position : {far, -far, far - 7 - axis, std::int64_t{131071}, std::int64_t{-1}})
        positions.push_back(position);
    }
    expect_truth(encoding, positions);
  }
}

TEST(FourierEncoder, QuartersOfATurnAreExactAndNeighboursAreNot) {
  const auto encoding = std::get<Fourier>(parse_spec(R"({"encoding":"fourier","bands":2,"lowest":-3,"highest":-2,)"
                                                     R"("angle_unit":"turn"})")
                                              .encoding);
  const std::vector<std::int64_t> positions{0, 2, 4, 6, 8, -2, 12};
  const double quarters[][4] = {{0, 1, 0, 1}, {1, 0, 0, -1},  {0, -1, 0, 1}, {-1, 0, 0, -1},
                                {0, 1, 0, 1}, {-1, 0, 0, -1}, {0, -1, 0, 1}};
  for (const Dtype dtype : floating_dtypes) {
    const Tensor table = FourierEncoder(encoding).encode(positions, dtype);
    for (std::int64_t row = 0; row < 7; ++row) {
      for (std::int64_t channel = 0; channel < 4; ++channel) {
        const double value = table.at(row * 4 + channel);
        EXPECT_EQ(value, quarters[row][channel]) << row << " " << channel;
        EXPECT_FALSE(value == 0 && std::signbit(value)) << row << " " << channel;
      }
    }
  }
}

// Columns that cancel exactly, nearly, and matrices at both ends of what a float64 holds.
TEST(FourierEncoder, SumsOfAWeightAreThoseOfTheRealNumbers) {
  Fourier encoding = std::get<Fourier>(
      parse_spec(R"({"encoding":"fourier","axes":2,"bands":6,"ladder":"weight","position_dtype":"float64"})").encoding);
  Tensor weight = Tensor::zeros(Dtype::float64, {2, 6});
  const double columns[2][6] = {{0.1, 0.1, 1e300, 1e-300, 0.25, 0x1p40},
                                {-0.1, -0.1 * (1 + 0x1p-52), -1e300, 1e-300, 0.5, -0x1.8p40}};
  for (std::int64_t i = 0; i < 12; ++i) weight.set(i, columns[i / 6][i % 6]);
  const std::vector<std::int64_t> positions{128, 3, 0, -77, 1 << 20, 128, 3, 5, 76, (1 << 20) + 1};
  for (const AngleUnit unit : {AngleUnit::radian, AngleUnit::half_turn, AngleUnit::turn}) {
    encoding.angle_unit = unit;
    reference::FourierReference truth(encoding, weight);
    expect_truth(encoding, positions, FourierEncoder(encoding).encode(positions, weight), truth);
  }
}

TEST(FourierEncoder, CoordinatesAreRoundedOnce) {
  // 2p + 1 - e over e: middles that are ties of bfloat16 (257/256), and some next to one.
  auto encoding = std::get<Fourier>(
      parse_spec(R"({"encoding":"fourier","bands":1,"identity":"first","coordinates":"centres","extents":[65536]})")
          .encoding);
  std::vector<std::int64_t> positions;
  for (std::int64_t p = 0; p < 65536; p += 97) positions.push_back(p);
  expect_truth(encoding, positions);
  encoding.extents = {65535};
  expect_truth(encoding, positions);
}

TEST(FourierEncoder, TheSameBitsOnAnyNumberOfThreads) {
  const Fourier encoding = every_kind_of_features().front().encoding();
  const FourierEncoder encoder(encoding);
  expect_same_on_threads([&] { return encoder.encode(some_places(encoding, 3000), Dtype::float32); });
}

TEST(FourierEncoder, RefusesWhatItDoesNotHave) {
  Fourier encoding = every_kind_of_features().front().encoding();
  const FourierEncoder encoder(encoding);
  EXPECT_THROW(encoder.encode(std::vector<std::int64_t>{1, 2}, Dtype::float32), std::invalid_argument);
  EXPECT_THROW(encoder.encode({}, Dtype::int64), std::invalid_argument);
  EXPECT_THROW(encoder.encode(std::vector<std::int64_t>{0, 0, (std::int64_t{1} << 53) + 1}, Dtype::float32),
               std::out_of_range);
  EXPECT_THROW(encoder.encode({}, Tensor::zeros(Dtype::float32, {3, 10})), std::invalid_argument);
  std::vector<std::byte> memory(31);
  EXPECT_THROW(encoder.encode(std::vector<std::int64_t>{0, 0, 0}, Dtype::float32, memory), std::invalid_argument);
  encoding.bands = 0;
  EXPECT_THROW(FourierEncoder{encoding}, SpecError);

  const Fourier cells = every_kind_of_features()[4].encoding();
  const FourierEncoder of_cells(cells);
  Tensor weight = Tensor::zeros(Dtype::float32, {2, 17});
  EXPECT_THROW(of_cells.encode({}, Dtype::float32), std::invalid_argument);
  EXPECT_THROW(of_cells.encode(std::vector<std::int64_t>{63, 48}, weight), std::out_of_range);
  EXPECT_THROW(of_cells.encode(std::vector<std::int64_t>{-1, 0}, weight), std::out_of_range);
  EXPECT_THROW(of_cells.encode({}, Tensor::zeros(Dtype::float32, {17, 2})), std::invalid_argument);
  weight.set(5, INFINITY);
  EXPECT_THROW(of_cells.encode({}, weight), std::invalid_argument);
}

TEST(FourierEncoder, WritesItsRowsAndNothingElse) {
  for (const NamedFeatures& named : every_kind_of_features()) {
    const Fourier encoding = named.encoding();
    const FourierEncoder encoder(encoding);
    const std::vector<std::int64_t> positions = some_places(encoding, 5);
    for (const Dtype dtype : floating_dtypes) {
      expect_only_its_rows(features(encoder, encoding, positions, dtype), [&](const Rows& out) {
        if (is_given(encoding)) return encoder.encode(positions, some_matrix(encoding, dtype), out);
        encoder.encode(positions, out);
      });
    }
  }
}

}  // namespace
}  // namespace sextant::fourier_test
