#include "lib/sinusoidal/sinusoidal.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace sextant::sinusoidal_test {
namespace {

Sinusoidal small() {
  Sinusoidal encoding;
  encoding.dim = 4;
  return encoding;
}

std::vector<double> row(const Sinusoidal& encoding, std::int64_t position) {
  const Tensor table = SinusoidalEncoder(encoding).encode(std::vector<std::int64_t>{position}, Dtype::float64);
  std::vector<double> values;
  for (std::int64_t i = 0; i < table.elements(); ++i) values.push_back(table.at(i));
  return values;
}

TEST(SinusoidalEncoder, ThePapersFormula) {
  // w_0 = 1, w_1 = 10000^(-2/4) = 0.01.
  const std::vector<double> values = row(small(), 3);
  EXPECT_DOUBLE_EQ(values[0], std::sin(3.0));
  EXPECT_DOUBLE_EQ(values[1], std::cos(3.0));
  EXPECT_DOUBLE_EQ(values[2], std::sin(0.03));
  EXPECT_DOUBLE_EQ(values[3], std::cos(0.03));
}

TEST(SinusoidalEncoder, EveryFieldChangesTheTableAsItSays) {
  Sinusoidal encoding = small();
  encoding.layout = Layout::concatenated;
  EXPECT_DOUBLE_EQ(row(encoding, 3)[1], std::sin(0.03));
  encoding.first = First::cos;
  EXPECT_DOUBLE_EQ(row(encoding, 3)[0], std::cos(3.0));
  encoding = small();
  encoding.downscale_freq_shift = 1;  // w_1 = 10000^(-1/1)
  EXPECT_DOUBLE_EQ(row(encoding, 3)[2], std::sin(0.0003));
  encoding = small();
  encoding.position_offset = 2;
  EXPECT_EQ(row(encoding, 1), row(small(), 3));
  encoding.scale = 0.5;
  EXPECT_EQ(row(encoding, 1)[0], 0.5 * row(small(), 3)[0]);
  encoding.base = 1;
  EXPECT_EQ(row(encoding, 1)[0], row(encoding, 1)[2]);
}

TEST(SinusoidalEncoder, AnglesAreOfRealPositionsAndOfTheirScale) {
  Sinusoidal encoding = small();
  encoding.positions = {0x1p-7, Dtype::float32};
  EXPECT_DOUBLE_EQ(row(encoding, 257)[0], std::sin(2.0078125));
  EXPECT_DOUBLE_EQ(row(encoding, -257)[2], std::sin(-0.020078125));
  encoding.angle_scale = 1000;
  EXPECT_DOUBLE_EQ(row(encoding, 257)[0], std::sin(2007.8125));
  encoding.scale = 0.5;
  EXPECT_DOUBLE_EQ(row(encoding, 257)[3], 0.5 * std::cos(20.078125));
  // Far from 0, and of more turns than an angle has bits.
  encoding = small();
  encoding.angle_scale = 0x1p20;
  encoding.positions = {};
  Sinusoidal far = small();
  EXPECT_EQ(row(encoding, (std::int64_t{1} << 33) + 5), row(far, ((std::int64_t{1} << 33) + 5) << 20));
}

// A step and a scale that cancel make the same bits, in every dtype and at every row of a block.
TEST(SinusoidalEncoder, StepsAndScalesAreOneFactor) {
  Sinusoidal whole = small();
  whole.dim = 34;
  Sinusoidal real = whole;
  real.positions = {0x1p-10, Dtype::float64};
  real.angle_scale = 1024;
  for (const Dtype dtype : {Dtype::float64, Dtype::float32, Dtype::float16, Dtype::bfloat16}) {
    std::vector<std::int64_t> positions;
    for (std::int64_t p = -200; p < 400; ++p) positions.push_back(p);
    EXPECT_EQ(SinusoidalEncoder(whole).encode(positions, dtype).data,
              SinusoidalEncoder(real).encode(positions, dtype).data);
  }
}

TEST(SinusoidalEncoder, AnyShiftDividesTheExponent) {
  Sinusoidal encoding = small();
  encoding.dim = 10;
  encoding.downscale_freq_shift = 3;  // w_1 = 10000^(-1/2), w_4 = 10000^(-2)
  EXPECT_DOUBLE_EQ(row(encoding, 3)[2], std::sin(0.03));
  EXPECT_DOUBLE_EQ(row(encoding, 3)[8], std::sin(3e-8));
}

TEST(SinusoidalEncoder, AnOddWidthHasAZeroBehindItsPairs) {
  Sinusoidal even;
  even.dim = 34;
  even.layout = Layout::concatenated;
  even.first = First::cos;
  Sinusoidal odd = even;
  odd.dim = 35;
  for (const Dtype dtype : {Dtype::float64, Dtype::float32, Dtype::float16, Dtype::bfloat16}) {
    const std::size_t width = size_of(dtype);
    std::vector<std::int64_t> positions;
    for (std::int64_t p = -7; p < 300; ++p) positions.push_back(p);
    const Tensor plain = SinusoidalEncoder(even).encode(positions, dtype);
    // With a gap between rows, which nobody may touch.
    const auto rows = std::ssize(positions);
    std::vector<std::byte> memory(static_cast<std::size_t>(rows * 37) * width, std::byte{0xA5});
    const SinusoidalEncoder encoder(odd);
    ASSERT_EQ(encoder.dim(), 35);
    encoder.encode(positions, {dtype, memory.data(), rows, 35, 37});
    for (std::size_t r = 0; r < positions.size(); ++r) {
      const auto begin = memory.begin() + static_cast<std::ptrdiff_t>(r * 37 * width);
      const auto pairs_end = begin + static_cast<std::ptrdiff_t>(34 * width);
      const auto row_end = begin + static_cast<std::ptrdiff_t>(35 * width);
      ASSERT_TRUE(std::equal(begin, pairs_end, plain.data.begin() + static_cast<std::ptrdiff_t>(r * 34 * width))) << r;
      ASSERT_TRUE(std::all_of(pairs_end, row_end, [](std::byte b) { return b == std::byte{0}; })) << r;
      ASSERT_TRUE(std::all_of(row_end, begin + static_cast<std::ptrdiff_t>(37 * width), [](std::byte b) {
        return b == std::byte{0xA5};
      })) << r;
    }
  }
}

TEST(SinusoidalEncoder, PositionZeroIsExact) { EXPECT_EQ(row(small(), 0), (std::vector<double>{0, 1, 0, 1})); }

// The scale is a tie of float32, and the least frequency some 2^-992: the cosine's distance from 1, some 2^-1985,
// decides.
TEST(SinusoidalEncoder, TheGreatestBaseIsDecided) {
  Sinusoidal encoding = small();
  encoding.dim = 64;
  encoding.base = 1.7e308;
  encoding.scale = 1 + 0x1p-23 + 0x1p-24;  // to even would be up
  const Tensor table = SinusoidalEncoder(encoding).encode(std::array<std::int64_t, 1>{1}, Dtype::float32);
  EXPECT_EQ(load(table.dtype, table.data.data() + 63 * sizeof(float)), 1 + 0x1p-23);
}

TEST(SinusoidalEncoder, NoRowsIsAnEmptyTable) {
  const Tensor table = SinusoidalEncoder(small()).encode({}, Dtype::float32);
  EXPECT_EQ(table.shape, (std::vector<std::int64_t>{0, 4}));
  EXPECT_TRUE(table.data.empty());
}

TEST(SinusoidalEncoder, RefusesBadSpecs) {
  Sinusoidal odd = small();
  odd.dim = 5;
  EXPECT_THROW(SinusoidalEncoder{odd}, SpecError);
  EXPECT_THROW(SinusoidalEncoder(small()).encode({}, Dtype::int64), std::invalid_argument);
}

}  // namespace
}  // namespace sextant::sinusoidal_test
