#include <gtest/gtest.h>

#include <cmath>

#include "lib/rope/oracle_test.hpp"
#include "lib/rope/rope.hpp"
#include "reference/fast_rotations.hpp"
#include "reference/random_encoding_test.hpp"
#include "reference/rotation_table.hpp"
#include "reference/wide_value.hpp"

// Values by the million against the oracle's fast tier, and its exact one for what that leaves open.
// SEXTANT_TEST_MULTIPLIER=61 or more makes it every position of 0 .. 131071; else every 61st.

namespace sextant::rope_volume_test {
namespace {

using reference::DoubleDoubleWithin;

struct Setting {
  Dtype dtype;
  std::int64_t dim;
  const char* scaling;
};

void PrintTo(const Setting& setting, std::ostream* stream) {
  *stream << name_of(setting.dtype) << " dim " << setting.dim << ' ' << setting.scaling;
}

class RopeVolume : public testing::TestWithParam<Setting> {
 protected:
  RopeVolume()
      : encoding_(
            rope_of("\"head_dim\":" + std::to_string(GetParam().dim) + ",\"rope_scaling\":" + GetParam().scaling)),
        encoder_(encoding_),
        reference_(encoding_),
        oracle_(encoding_),
        fast_(reference_.fast(1)),
        row_(fast_.make_row()),
        factor_(DoubleDoubleWithin::of(reference_.attention_factor(reference::first_precision))) {}

  // Turns rows of x, [rows, dim], one for each position, and compares each value with the nearest to the truth.
  void expect_nearest(const Tensor& x, const std::vector<std::int64_t>& positions) {
    const Dtype dtype = GetParam().dtype;
    const std::int64_t dim = encoding_.head_dim;
    const Tensor y = encoder_.rotate(x, positions);
    for (std::size_t i = 0; i < positions.size(); ++i) {
      fast_.at(positions[i], row_);
      const std::int64_t start = static_cast<std::int64_t>(i) * dim;
      for (std::int64_t pair = 0; pair < dim / 2; ++pair) {
        const auto at = static_cast<std::size_t>(pair);
        const double x0 = x.at(start + pair);
        const double x1 = x.at(start + pair + dim / 2);
        const DoubleDoubleWithin given0 = factor_ * DoubleDoubleWithin::exactly(x0);
        const DoubleDoubleWithin given1 = factor_ * DoubleDoubleWithin::exactly(x1);
        const DoubleDoubleWithin first = given0 * row_.cos(at) - given1 * row_.sin(at);
        const DoubleDoubleWithin second = given0 * row_.sin(at) + given1 * row_.cos(at);
        auto nearest0 = reference::correctly_rounded(dtype, first.high, first.low, first.error);
        auto nearest1 = reference::correctly_rounded(dtype, second.high, second.low, second.error);
        if (!nearest0 || !nearest1) {
          const auto exact = oracle_.rotated(dtype, positions[i], pair, 1, x0, x1);
          nearest0 = exact.first;
          nearest1 = exact.second;
        }
        ASSERT_EQ(y.at(start + pair), *nearest0)
            << "position " << positions[i] << " pair " << pair << " x " << x0 << ' ' << x1;
        ASSERT_EQ(y.at(start + pair + dim / 2), *nearest1)
            << "position " << positions[i] << " pair " << pair << " x " << x0 << ' ' << x1;
      }
    }
  }

  Rope encoding_;
  RopeEncoder encoder_;
  reference::RopeReference reference_;
  PairOracle oracle_;
  reference::FastRotations fast_;
  reference::RotationRow row_;
  DoubleDoubleWithin factor_;
};

constexpr const char* plain = R"({"rope_type":"default"})";
constexpr const char* yarn = R"({"rope_type":"yarn","factor":40,"original_max_position_embeddings":4096})";

INSTANTIATE_TEST_SUITE_P(Settings, RopeVolume,
                         testing::Values(Setting{Dtype::float32, 64, plain}, Setting{Dtype::float32, 128, plain},
                                         Setting{Dtype::float16, 64, plain}, Setting{Dtype::float16, 128, plain},
                                         Setting{Dtype::bfloat16, 64, plain}, Setting{Dtype::bfloat16, 128, plain},
                                         Setting{Dtype::float32, 128, yarn}, Setting{Dtype::bfloat16, 128, yarn}));

TEST_P(RopeVolume, EveryPositionIsCorrectlyRounded) {
  const std::int64_t step = std::max<std::int64_t>(1, 61 / reference::multiplied(1));
  constexpr std::int64_t rows = 512;
  reference::Draw draw(77);
  Tensor x = Tensor::zeros(GetParam().dtype, {1, rows, 1, encoding_.head_dim});
  for (std::int64_t i = 0; i < x.elements(); ++i) x.set(i, draw.real(-4, 4));
  std::vector<std::int64_t> positions(rows);
  for (std::int64_t first = 0; first < 131072; first += rows * step) {
    for (std::int64_t i = 0; i < rows; ++i) positions[static_cast<std::size_t>(i)] = first + i * step;
    expect_nearest(x, positions);
  }
}

// x along (sin, cos), so that x0 cos - x1 sin nearly vanishes: what is left is the rounding of x, and its own rounding
// is relative to that.
TEST_P(RopeVolume, PairsThatNearlyCancelAreCorrectlyRounded) {
  reference::Draw draw(78);
  constexpr std::int64_t rows = 200;
  Tensor x = Tensor::zeros(GetParam().dtype, {1, rows, 1, encoding_.head_dim});
  std::vector<std::int64_t> positions;
  for (std::int64_t i = 0; i < rows; ++i) {
    positions.push_back(i % 2 == 0 ? draw.integer(0, 131071) : draw.position());
    fast_.at(positions.back(), row_);
    const double size = std::exp2(static_cast<double>(draw.integer(-8, 8)));
    for (std::int64_t pair = 0; pair < encoding_.head_dim / 2; ++pair) {
      const auto at = static_cast<std::size_t>(pair);
      x.set(i * encoding_.head_dim + pair, size * row_.sin_high[at]);
      x.set(i * encoding_.head_dim + pair + encoding_.head_dim / 2, size * row_.cos_high[at]);
    }
  }
  expect_nearest(x, positions);
}

TEST_P(RopeVolume, TheTablesAreCorrectlyRounded) {
  const Dtype dtype = GetParam().dtype;
  const std::int64_t step = std::max<std::int64_t>(1, 61 / reference::multiplied(1));
  const std::int64_t width = pairs(encoding_);
  std::vector<std::int64_t> positions{-1, std::int64_t{1} << 31, std::int64_t{1} << 40, -(std::int64_t{1} << 53)};
  for (std::int64_t position = 0; position < 131072; position += step) positions.push_back(position);
  const auto rows = std::ssize(positions);
  Tensor cosines = Tensor::zeros(dtype, {rows, width});
  Tensor sines = cosines;
  encoder_.tables(positions, {dtype, cosines.data.data(), rows, width, width},
                  {dtype, sines.data.data(), rows, width, width});
  reference::RotationTable truth(
      fast_,
      [&](std::int64_t position, std::int64_t pair, reference::Precision precision) -> const reference::Rotation& {
        return reference_.rotation(position, pair, 1, precision);
      },
      [&](reference::Precision precision) { return reference_.attention_factor(precision); }, dtype);
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto& expected = truth.at(positions[static_cast<std::size_t>(row)]);
    for (std::int64_t pair = 0; pair < width; ++pair) {
      ASSERT_EQ(cosines.at(row * width + pair), expected.cos[static_cast<std::size_t>(pair)])
          << positions[static_cast<std::size_t>(row)] << " pair " << pair;
      ASSERT_EQ(sines.at(row * width + pair), expected.sin[static_cast<std::size_t>(pair)])
          << positions[static_cast<std::size_t>(row)] << " pair " << pair;
    }
  }
}

// At position 0 the rotated pair is the factor times x, which may lie halfway between two values: to even.
TEST(RopeTies, AFactorOfThreeHalvesTiesToEven) {
  const Rope encoding = rope_of(R"("head_dim":4,"rope_scaling":{"rope_type":"yarn","factor":2,)"
                                R"("original_max_position_embeddings":64,"attention_factor":1.5})");
  const RopeEncoder encoder(encoding);
  PairOracle oracle(encoding);
  for (const Dtype dtype : {Dtype::float64, Dtype::float32, Dtype::float16, Dtype::bfloat16}) {
    Tensor x = Tensor::zeros(dtype, {1, 1, 1, 4});
    const double step = 2 * unit_roundoff(dtype);
    for (const std::int64_t odd : {1, 3, 5, 7}) {
      x.set(0, 1 + static_cast<double>(odd) * step);
      x.set(1, -1 - static_cast<double>(odd + 2) * step);
      const Tensor y = encoder.rotate(x, std::vector<std::int64_t>{0});
      // 3/2 (1 + odd step) = 3/2 + odd step + odd step/2: a tie.
      for (std::int64_t pair = 0; pair < 2; ++pair) {
        EXPECT_EQ(y.at(pair), oracle.rotated(dtype, 0, pair, 1, x.at(pair), 0).first) << name_of(dtype);
        EXPECT_EQ(std::fmod(y.at(pair) / step, 2), 0) << name_of(dtype);
      }
    }
  }
}

}  // namespace
}  // namespace sextant::rope_volume_test
