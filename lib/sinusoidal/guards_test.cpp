#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "lib/kernels/target_test.hpp"
#include "lib/sinusoidal/oracle_test.hpp"

// Both ends of every guard that decides which tier serves a scale, in both overloads, where sines come nearest to 0.

namespace sextant::sinusoidal_guards_test {
namespace {

constexpr Dtype dtypes[] = {Dtype::float32, Dtype::float16, Dtype::bfloat16, Dtype::float64};
constexpr std::int64_t rows = 127;  // a whole block: rows to both sides of one anchor

double below(double value) { return std::nextafter(value, 0.0); }
double above(double value) { return std::nextafter(value, std::numeric_limits<double>::infinity()); }

// The neighbourhood of each end: QuickCertificate::Suits (2^-14, for float16 1/2, and 1.5 scale < 2^14), powers of two
// inside of it and 2/3 of them, where its exponent steps; ScaleIsModerate of anchors-inl.h (2^-800, 2^900); the largest
// values of float16 and float32.
std::vector<double> scales() {
  std::vector<double> list;
  for (const double end : {0x1p-14, 0.5, 0x1p14 / 1.5, 0x1p14, 0x1p13 / 1.5, 0x1p-14 / 1.5, 1.0, 0x1p-800, 0x1p900,
                           65504.0, 0x1.fffffep127}) {
    for (const double scale : {below(end), end, above(end)}) list.push_back(scale);
  }
  for (const double inside : {10923.0, 12000.0, 16000.0, -10922.0, -11000.0, -16384.0}) list.push_back(inside);
  return list;
}

// Bases for which pair 1 of dim 32 turns by a whole number of half turns, nearly, at a position of the block: doubles
// around the real base.
std::vector<double> bases_with_zeros() {
  std::vector<double> bases;
  for (const auto& [position, half_turns] : {std::pair{27, 2}, {100, 31}, {63, 20}}) {
    double base = std::pow(position / (half_turns * std::numbers::pi), 16.0);
    for (int step = 0; step < 4; ++step) bases.push_back(base = above(base));
  }
  return bases;
}

void expect_oracle_in_both_overloads(const Sinusoidal& encoding, Dtype dtype, const PositionRange& range) {
  const SinusoidalEncoder encoder(encoding);
  SinusoidalOracle oracle(encoding, dtype);
  std::vector<std::int64_t> list;
  for (std::int64_t row = 0; row < range.count; ++row) list.push_back(range.first + row * range.step);
  const Tensor by_list = encoder.encode(list, dtype);
  Tensor by_range = Tensor::zeros(dtype, {range.count, encoding.dim});
  encoder.encode(range, {dtype, by_range.data.data(), range.count, encoding.dim, encoding.dim});
  const std::size_t bytes = static_cast<std::size_t>(encoding.dim) * size_of(dtype);
  for (std::size_t row = 0; row < list.size(); ++row) {
    const std::vector<double> truth = oracle.row(list[row]);
    const Tensor* const tables[] = {&by_range, &by_list};
    for (const Tensor* table : tables) {
      ASSERT_EQ(differences(dtype, truth, table->data.data() + row * bytes), 0)
          << (table == &by_range ? "range" : "list") << ", " << name_of(dtype) << ", scale " << std::hexfloat
          << encoding.scale << ", base " << encoding.base << ", position " << std::dec << list[row];
    }
  }
}

class SinusoidalGuardsOn : public OnEveryTarget {};
SEXTANT_ON_EVERY_TARGET(SinusoidalGuardsOn);

TEST_P(SinusoidalGuardsOn, ScalesAtBothEnds) {
  const std::vector<double> bases = bases_with_zeros();
  std::size_t next = 0;
  for (const double scale : scales()) {
    for (const Dtype dtype : dtypes) {
      Sinusoidal encoding = sinusoidal_of_dim(32);
      encoding.scale = scale;
      encoding.base = bases[next++ % bases.size()];
      encoding.layout = next % 3 == 0 ? Layout::concatenated : Layout::interleaved;
      // Beyond the kernels each value is half a millisecond's work.
      const bool slow = std::fabs(scale) < 0x1p-800 || std::fabs(scale) > 0x1p900;
      expect_oracle_in_both_overloads(encoding, dtype, {0, slow ? 5 : rows, 1});
      if (HasFatalFailure()) return;
    }
  }
}

// A sine that the kernels compute as 0 and that is not: every base of them at every scale between the last power of two
// and the end of the quick tier.
TEST_P(SinusoidalGuardsOn, ComputedZerosAreNotCertified) {
  Sinusoidal published = sinusoidal_of_dim(16);
  published.base = 116270.93540721589;
  for (const double scale : {8192.0, 10922.0, 10923.0, 16384.0, -16384.0}) {
    published.scale = scale;
    expect_oracle_in_both_overloads(published, Dtype::float32, {0, rows, 1});
    if (HasFatalFailure()) return;
    for (const double base : bases_with_zeros()) {
      Sinusoidal encoding = sinusoidal_of_dim(32);
      encoding.scale = scale;
      encoding.base = base;
      expect_oracle_in_both_overloads(encoding, Dtype::float32, {0, rows, 1});
      if (HasFatalFailure()) return;
    }
  }
}

// Where blocks of rows begin and end, and where a few rows have no anchor in double-double.
TEST_P(SinusoidalGuardsOn, CountsAndStepsBesideTheBlocks) {
  Sinusoidal encoding = sinusoidal_of_dim(32);
  encoding.base = bases_with_zeros().front();
  encoding.scale = 3;
  for (const Dtype dtype : dtypes) {
    for (const std::int64_t count : {1, 2, 3, 4, 5, 63, 64, 65, 126, 127, 128, 129, 254, 255}) {
      for (const std::int64_t step : {1, -1, 0, 2, 126, 127}) {
        expect_oracle_in_both_overloads(encoding, dtype,
                                        {count % 2 == 0 ? -30 : (std::int64_t{1} << 53) - 40, count, step});
        if (HasFatalFailure()) return;
      }
    }
  }
}

}  // namespace
}  // namespace sextant::sinusoidal_guards_test
