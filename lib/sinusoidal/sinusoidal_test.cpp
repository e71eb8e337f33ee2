#include "lib/sinusoidal/sinusoidal.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

namespace sextant {
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
  encoding.denominator = Denominator::half_minus_one;  // w_1 = 10000^(-1/1)
  EXPECT_DOUBLE_EQ(row(encoding, 3)[2], std::sin(0.0003));
  encoding = small();
  encoding.position_offset = 2;
  EXPECT_EQ(row(encoding, 1), row(small(), 3));
  encoding.scale = 0.5;
  EXPECT_EQ(row(encoding, 1)[0], 0.5 * row(small(), 3)[0]);
  encoding.base = 1;
  EXPECT_EQ(row(encoding, 1)[0], row(encoding, 1)[2]);
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
}  // namespace sextant
