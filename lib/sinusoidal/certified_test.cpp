#include <gtest/gtest.h>
#include <omp.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <random>
#include <sstream>

#include "lib/kernels/target_test.hpp"
#include "lib/numeric/content_hash.hpp"
#include "lib/sinusoidal/oracle_test.hpp"

// Certified tables against the oracle, which shares no arithmetic with them.

namespace sextant::sinusoidal_certified_test {
namespace {

using reference::Enclosure;
using reference::Precision;

constexpr Dtype dtypes[] = {Dtype::float32, Dtype::float16, Dtype::bfloat16, Dtype::float64};

std::vector<std::int64_t> delicate_positions() {
  std::vector<std::int64_t> list{0, 1, 2, 3, -1, -2, 355, 710, 131071, -131071};
  for (const int power : {31, 40, 53}) {
    for (std::int64_t nudge = -3; nudge <= 0; ++nudge) list.push_back((std::int64_t{1} << power) + nudge);
    list.push_back(-(std::int64_t{1} << power));
  }
  std::mt19937_64 random(3);
  for (int i = 0; i < 24; ++i) list.push_back(static_cast<std::int64_t>(random()) >> (11 + random() % 48));
  return list;
}

class CertifiedSinusoidalOn : public OnEveryTarget {};
SEXTANT_ON_EVERY_TARGET(CertifiedSinusoidalOn);

void expect_oracle(const Sinusoidal& encoding, const std::vector<std::int64_t>& positions, const char* what) {
  const SinusoidalEncoder encoder(encoding);
  for (const Dtype dtype : dtypes) {
    SinusoidalOracle oracle(encoding, dtype);
    const Tensor table = encoder.encode(positions, dtype);
    for (std::size_t row = 0; row < positions.size(); ++row) {
      const std::size_t bytes = static_cast<std::size_t>(encoding.dim) * size_of(dtype);
      ASSERT_EQ(differences(dtype, oracle.row(positions[row]), table.data.data() + row * bytes), 0)
          << what << " " << name_of(dtype) << " at position " << positions[row];
    }
  }
}

TEST_P(CertifiedSinusoidalOn, EqualsTheOracleAtDelicatePositions) {
  for (const std::int64_t dim : {2, 34, 66}) {
    Sinusoidal encoding = sinusoidal_of_dim(dim);
    expect_oracle(encoding, delicate_positions(), "base 10000");
    encoding.base = 77777.25;
    expect_oracle(encoding, delicate_positions(), "base 77777.25");
  }
}

TEST_P(CertifiedSinusoidalOn, EqualsTheOracleForEveryField) {
  // Consecutive rows, so that anchors are turned; then scattered ones.
  std::vector<std::int64_t> positions;
  for (std::int64_t position = -40; position < 60; ++position) positions.push_back(position);
  for (const std::int64_t position : {5, 5, 4, 9, 40, 20, 131071}) positions.push_back(position);
  int setting = 0;
  for (const Layout layout : {Layout::interleaved, Layout::concatenated}) {
    for (const First first : {First::sin, First::cos}) {
      for (const std::int64_t shift : {0, 1}) {
        Sinusoidal encoding = sinusoidal_of_dim(setting % 2 == 0 ? 34 : 16);
        encoding.layout = layout;
        encoding.first = first;
        encoding.downscale_freq_shift = shift;
        constexpr double scales[] = {1, 0.5, 3, -2.7};
        encoding.scale = scales[setting % 4];
        encoding.position_offset = setting % 3 == 0 ? 0 : (std::int64_t{1} << 53) - 7 * setting;
        ++setting;
        expect_oracle(encoding, positions, "setting");
      }
    }
  }
}

// Steps of real positions, angle scales, shifts and odd widths; of small steps nearly every value is left to the last
// tiers.
TEST_P(CertifiedSinusoidalOn, EqualsTheOracleForTimesteps) {
  std::vector<std::int64_t> positions = delicate_positions();
  for (std::int64_t position = -40; position < 200; ++position) positions.push_back(position);
  int setting = 0;
  for (const double step : {1.0, 0x1p-7, 0x1p-20, 0x1p-40}) {
    for (const double angle_scale : {1.0, 1000.0, 0x1p20, 0x1p-20, 0.3}) {
      Sinusoidal encoding = sinusoidal_of_dim(setting % 3 == 0 ? 13 : 12);
      encoding.layout = setting % 3 == 0 || setting % 2 == 0 ? Layout::concatenated : Layout::interleaved;
      encoding.first = setting % 5 < 2 ? First::cos : First::sin;
      encoding.downscale_freq_shift = setting % 4;
      encoding.angle_scale = angle_scale;
      if (step != 1) encoding.positions = {step, Dtype::float64};
      ++setting;
      expect_oracle(encoding, positions, "timesteps");
    }
  }
}

// Results in the subnormals, of either sign of zero, and past the largest finite value.
TEST_P(CertifiedSinusoidalOn, EqualsTheOracleAtExtremeScales) {
  for (const double scale : {1e-40, 1e30, 1e-7, 65520.0, 3.4028236e38, 1e300}) {
    Sinusoidal encoding = sinusoidal_of_dim(10);
    encoding.scale = scale;
    expect_oracle(encoding, {0, 1, 2, 3, 4, 5, 1000, -7}, "scale");
  }
}

TEST(CertifiedSinusoidal, ScalesBeyondTheKernelsAreLeftToTheLastTier) {
  for (const double scale : {1e-310, 1.7e308}) {
    Sinusoidal encoding = sinusoidal_of_dim(4);
    encoding.scale = scale;
    expect_oracle(encoding, {0, 1, 5}, "scale");
  }
}

// Rows of a range go two to an anchor, in bfloat16 by floats; those of a list go one by one. Frequencies so low that
// most values are too small for the bounds in float, and scales at both ends.
TEST_P(CertifiedSinusoidalOn, RangesEqualLists) {
  for (const std::int64_t dim : {32, 64, 96, 1088}) {
    int setting = 0;
    for (const double base : {10000.0, 1e12}) {
      for (const double scale : {1.0, -0x1p-13, 5000.0}) {
        for (const std::int64_t first : {std::int64_t{-100}, (std::int64_t{1} << 53) - 500}) {
          Sinusoidal encoding = sinusoidal_of_dim(dim);
          encoding.base = base;
          encoding.scale = scale;
          encoding.layout = setting % 2 == 0 ? Layout::interleaved : Layout::concatenated;
          encoding.first = setting % 3 == 0 ? First::cos : First::sin;
          ++setting;
          constexpr std::int64_t rows = 300;
          std::vector<std::int64_t> positions;
          for (std::int64_t row = 0; row < rows; ++row) positions.push_back(first + row);
          const SinusoidalEncoder encoder(encoding);
          for (const Dtype dtype : {Dtype::float32, Dtype::float16, Dtype::bfloat16}) {
            Tensor range = Tensor::zeros(dtype, {rows, dim});
            encoder.encode(PositionRange{first, rows, 1}, {dtype, range.data.data(), rows, dim, dim});
            EXPECT_TRUE(range.data == encoder.encode(positions, dtype).data)
                << name_of(dtype) << " " << dim << " " << base << " " << scale << " " << first;
          }
        }
      }
    }
  }
}

// Values of the table of dim 128 so near to a tie that a double product, rounded, is the wrong float32: all there are
// among the first 2^25 positions (one in 3e8), found by comparing fast with certified tables. A certificate with too
// small a bound lets these through.
TEST_P(CertifiedSinusoidalOn, EqualsTheOracleWhereTheDoubleProductRoundsWrongly) {
  struct Hard {
    std::int64_t position;
    std::size_t channel;
  };
  constexpr Hard cases[] = {{2307380, 44},  {2598061, 58},  {4116551, 38},  {4524508, 11},  {6565759, 0},
                            {7468984, 12},  {10461481, 52}, {13922324, 33}, {21721337, 75}, {22169786, 68},
                            {23406492, 59}, {24280676, 31}, {31671556, 11}, {32828795, 32}};
  SinusoidalOracle oracle(sinusoidal_of_dim(128), Dtype::float32);
  const SinusoidalEncoder encoder(sinusoidal_of_dim(128));
  int wrong_when_fast = 0;
  for (const auto& [position, channel] : cases) {
    // Enough rows for an anchor in double-double.
    Tensor certified = Tensor::zeros(Dtype::float32, {32, 128});
    Tensor fast = certified;
    const PositionRange block{position - position % 32, 32, 1};
    encoder.encode(block, {Dtype::float32, certified.data.data(), 32, 128, 128}, Rounding::certified);
    encoder.encode(block, {Dtype::float32, fast.data.data(), 32, 128, 128}, Rounding::fast);
    const std::int64_t index = position % 32 * 128 + static_cast<std::int64_t>(channel);
    EXPECT_EQ(certified.at(index), oracle.row(position)[channel]) << position << " " << channel;
    wrong_when_fast += fast.at(index) != certified.at(index) ? 1 : 0;
  }
  EXPECT_GT(wrong_when_fast, 0) << "the cases are not hard any more: look for others";
}

// Frequencies so low that sines are below every bound of the kernels.
TEST(CertifiedSinusoidal, VeryLowFrequenciesAreLeftToTheLastTier) {
  Sinusoidal encoding = sinusoidal_of_dim(6);
  encoding.base = 1e200;
  expect_oracle(encoding, {1, 3}, "base 1e200");
}

// Every value of the published tables, where SEXTANT_TEST_MULTIPLIER is above 1; else every 61st row, 61 having no
// factor in common with the rows of a block or a strip. The digests below hold the rows between.
TEST(CertifiedSinusoidal, EqualsTheOracleThroughoutTheTables) {
  const char* multiplier = std::getenv("SEXTANT_TEST_MULTIPLIER");
  const std::int64_t stride = multiplier != nullptr && std::atoi(multiplier) > 1 ? 1 : 61;
  constexpr std::int64_t rows = 131072;
  for (const std::int64_t dim : {64, 128, 512}) {
    const SinusoidalEncoder encoder(sinusoidal_of_dim(dim));
    std::vector<std::byte> table(static_cast<std::size_t>(rows * dim) * 4);
    for (const Dtype dtype : {Dtype::float32, Dtype::float16, Dtype::bfloat16}) {
      encoder.encode(PositionRange{0, rows, 1}, {dtype, table.data(), rows, dim, dim});
      std::int64_t wrong = 0;
#pragma omp parallel reduction(+ : wrong)
      {
        SinusoidalOracle oracle(sinusoidal_of_dim(dim), dtype);
#pragma omp for schedule(static)
        for (std::int64_t row = 0; row < rows; row += stride) {
          wrong +=
              differences(dtype, oracle.row(row), table.data() + static_cast<std::size_t>(row * dim) * size_of(dtype));
        }
      }
      EXPECT_EQ(wrong, 0) << dim << " " << name_of(dtype);
    }
  }
}

std::uint64_t digest(std::span<const std::byte> bytes) {
  ContentHash hash;
  hash.add_words(bytes);
  return hash.value();
}

// lib/sinusoidal/digests.txt: "dtype dim layout digest" of positions 0 to 131071, base 10000; of the layout "timestep"
// counts of steps.
std::map<std::string, std::string> published_digests() {
  std::ifstream file(SEXTANT_SOURCE_DIR "/lib/sinusoidal/digests.txt");
  std::map<std::string, std::string> digests;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    digests[line.substr(0, line.rfind(' '))] = line.substr(line.rfind(' ') + 1);
  }
  return digests;
}

Sinusoidal published_encoding(std::int64_t dim, const std::string& layout) {
  Sinusoidal encoding = sinusoidal_of_dim(dim);
  encoding.layout = layout == "interleaved" ? Layout::interleaved : Layout::concatenated;
  if (layout == "timestep") {
    encoding.first = First::cos;
    encoding.downscale_freq_shift = 2;
    encoding.angle_scale = 1000;
    encoding.positions = {0x1p-10, Dtype::float64};
  }
  return encoding;
}

std::string table_digest(Dtype dtype, const Sinusoidal& encoding, int threads, std::vector<std::byte>& table) {
  constexpr std::int64_t rows = 131072;
  const std::int64_t dim = encoding.dim;
  table.resize(static_cast<std::size_t>(rows * dim) * size_of(dtype));
  const int before = omp_get_max_threads();
  omp_set_num_threads(threads);
  SinusoidalEncoder(encoding).encode(PositionRange{0, rows, 1}, {dtype, table.data(), rows, dim, dim});
  omp_set_num_threads(before);
  std::ostringstream text;
  text << std::hex << digest(table);
  return text.str();
}

TEST_P(CertifiedSinusoidalOn, TablesHaveThePublishedDigests) {
  const auto published = published_digests();
  ASSERT_EQ(published.size(), 14U);
  std::vector<std::byte> table;
  for (const auto& [name, wanted] : published) {
    std::istringstream words(name);
    std::string dtype;
    std::string layout;
    std::int64_t dim = 0;
    words >> dtype >> dim >> layout;
#ifdef __SANITIZE_THREAD__
    const std::vector<int> thread_counts{1};  // ThreadSanitizer cannot see OpenMP's barriers
#else
    const std::vector<int> thread_counts = dim == 64 ? std::vector<int>{1, 2, 3} : std::vector<int>{2};
#endif
    for (const int threads : thread_counts) {
      EXPECT_EQ(table_digest(*dtype_named(dtype), published_encoding(dim, layout), threads, table), wanted)
          << name << " on " << threads << " threads";
    }
  }
}

// Rounding::fast against its stated bound: half a ULP, and 2^-50 |scale| (2^-93 for float64), and half a ULP of float32
// for 16 bits.
TEST_P(CertifiedSinusoidalOn, FastIsWithinItsBound) {
  Sinusoidal encoding = sinusoidal_of_dim(34);
  encoding.scale = 1.7;
  std::vector<std::int64_t> positions = delicate_positions();
  for (std::int64_t position = 1000; position < 1200; ++position) positions.push_back(position);
  reference::SinusoidalReference truth(encoding);
  const SinusoidalEncoder encoder(encoding);
  for (const Dtype dtype : dtypes) {
    const Tensor table = encoder.encode(positions, dtype, Rounding::fast);
    const Format format = format_of(dtype);
    for (std::size_t row = 0; row < positions.size(); ++row) {
      for (std::int64_t pair = 0; pair < 17; ++pair) {
        const reference::Rotation& rotation = truth.rotation(positions[row], pair, Precision{256});
        for (const bool sine : {true, false}) {
          const double got = table.at(static_cast<std::int64_t>(row) * 34 + 2 * pair + (sine ? 0 : 1));
          const Enclosure wanted = (sine ? rotation.sin : rotation.cos) * Enclosure(1.7, Precision{256});
          const double magnitude = std::fabs(wanted.upper());
          const int exponent =
              magnitude == 0 ? format.min_exponent : std::max(std::ilogb(magnitude), format.min_exponent);
          double bound =
              std::ldexp(0.5, exponent - format.precision + 1) + (dtype == Dtype::float64 ? 0x1p-93 : 0x1p-50) * 1.7;
          if (size_of(dtype) == 2) bound += std::ldexp(magnitude, -24);
          ASSERT_LE(abs(Enclosure(got, Precision{256}) - wanted).upper(), bound * (1 + 0x1p-40))
              << name_of(dtype) << " " << positions[row] << " " << pair;
          ASSERT_LE(abs(Enclosure(got, Precision{256}) - wanted).upper(),
                    0.51 * std::ldexp(1.0, 0 - format.precision + 1))
              << name_of(dtype);
        }
      }
    }
  }
}

}  // namespace
}  // namespace sextant::sinusoidal_certified_test
