#include "lib/kernels/exact_columns.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "lib/kernels/exact_sum.hpp"
#include "lib/kernels/guard_page_test.hpp"
#include "lib/kernels/target_test.hpp"
#include "lib/numeric/tensor.hpp"

namespace sextant::kernels_exact_columns_test {
namespace {

class ExactColumnsOn : public OnEveryTarget {};
SEXTANT_ON_EVERY_TARGET(ExactColumnsOn);

enum class Kind { common, ties, wide, special };

double drawn(Kind kind, Dtype dtype, std::mt19937_64& random) {
  const Format format = format_of(dtype);
  const double value = std::uniform_real_distribution<double>(-2, 2)(random);
  switch (kind) {
    case Kind::common: return value;
    case Kind::ties:
      return std::ldexp(random() % 2 == 0 ? 1 : -1,
                        -static_cast<int>(random() % static_cast<std::uint64_t>(format.precision + 2)));
    case Kind::wide: {
      const int span = format.max_exponent - format.min_exponent + format.precision;
      return std::ldexp(value, format.max_exponent - 1 - static_cast<int>(random() % static_cast<std::uint64_t>(span)));
    }
    case Kind::special:
      switch (random() % 64) {
        case 0: return std::numeric_limits<double>::infinity();
        case 1: return -std::numeric_limits<double>::infinity();
        case 2: return std::numeric_limits<double>::quiet_NaN();
        case 3: return largest_finite(dtype);
        case 4: return -largest_finite(dtype);
        default: return random() % 2 == 0 ? 0.0 : -0.0;
      }
  }
  return 0;
}

// Rows that overlap the columns in part, as those of distances do, and enough of them to end in every lane of a vector.
TEST_P(ExactColumnsOn, EqualsTheExactSumOfEachColumn) {
  constexpr std::int64_t columns = 61;
  std::mt19937_64 random(3);
  for (const Dtype dtype : {Dtype::float64, Dtype::float32, Dtype::float16, Dtype::bfloat16}) {
    for (const Kind kind : {Kind::common, Kind::ties, Kind::wide, Kind::special}) {
      std::int64_t exact = 0;
      for (const std::int64_t rows : {1, 2, 3, 40}) {
        ExactColumns sums(columns);
        std::vector<ExactSum> truth(columns);
        for (std::int64_t row = 0; row < rows; ++row) {
          const std::int64_t first = row % 17;
          Tensor elements = Tensor::zeros(dtype, {columns - first - row % 5});
          for (std::int64_t i = 0; i < elements.elements(); ++i) {
            elements.set(i, drawn(kind, dtype, random));
            truth[static_cast<std::size_t>(first + i)].add(elements.at(i));
          }
          const std::byte* const only = elements.data.data();
          sums.add(dtype, {&only, 1}, first, elements.elements());
        }
        Tensor rounded = Tensor::zeros(dtype, {columns});
        sums.round(dtype, rounded.data.data());
        for (std::int64_t i = 0; i < columns; ++i) {
          if (!sums.is_exact(i)) continue;
          ++exact;
          const double expected = truth[static_cast<std::size_t>(i)].rounded(dtype);
          ASSERT_EQ(std::bit_cast<std::uint64_t>(rounded.at(i)), std::bit_cast<std::uint64_t>(expected))
              << name_of(dtype) << " " << rows << " rows, " << i;
          ExactSum both = truth[static_cast<std::size_t>(i)];
          both.add(-sums.high(i));
          both.add(-sums.low(i));
          ASSERT_EQ(both.rounded(Dtype::float64), 0) << name_of(dtype) << " " << rows << " rows, " << i;
        }
      }
      // What is of one size fits, and so does all that 16 bits hold but what is no number.
      const bool fits = kind == Kind::common || kind == Kind::ties || (kind == Kind::wide && dtype == Dtype::float16);
      if (fits) {
        EXPECT_EQ(exact, 4 * columns) << name_of(dtype);
      }
    }
  }
}

TEST_P(ExactColumnsOn, ReadsAndWritesItsElementsAlone) {
  for (const Dtype dtype : {Dtype::float64, Dtype::float32, Dtype::float16, Dtype::bfloat16}) {
    for (std::int64_t columns = 1; columns <= 40; ++columns) {
      Tensor elements = Tensor::zeros(dtype, {columns});
      for (std::int64_t i = 0; i < columns; ++i) elements.set(i, static_cast<double>(i) + 0.5);
      for (const GuardedBytes::Against against : {GuardedBytes::Against::start, GuardedBytes::Against::end}) {
        GuardedBytes from(elements.data.size(), against);
        GuardedBytes to(elements.data.size(), against);
        std::memcpy(from.data(), elements.data.data(), from.size());
        ExactColumns sums(columns);
        const std::byte* const row = from.data();
        sums.add(dtype, {&row, 1}, 0, columns);
        sums.round(dtype, to.data());
        ASSERT_EQ(std::memcmp(to.data(), elements.data.data(), to.size()), 0) << name_of(dtype) << " " << columns;
      }
    }
  }
}

TEST_P(ExactColumnsOn, SaysWhatItLost) {
  ExactColumns sums(2);
  for (const double term : {0x1p120, 1.0, 0x1p-60}) {
    const double both[] = {term, 0x1p-60};
    const auto* const row = reinterpret_cast<const std::byte*>(both);
    sums.add(Dtype::float64, {&row, 1}, 0, 2);
  }
  EXPECT_FALSE(sums.is_exact(0));
  EXPECT_TRUE(sums.is_exact(1));
  const double infinity = std::numeric_limits<double>::infinity();
  const auto* const row = reinterpret_cast<const std::byte*>(&infinity);
  sums.add(Dtype::float64, {&row, 1}, 1, 1);
  EXPECT_FALSE(sums.is_exact(1));
  EXPECT_FALSE(sums.are_exact());
}

// In one double up to the column of `outlier`, which needs two, and in two from there on.
TEST_P(ExactColumnsOn, AddsRowsTogether) {
  constexpr std::int64_t columns = 75;
  constexpr std::int64_t count = 9;
  std::mt19937_64 random(4);
  for (const std::int64_t outlier : {std::int64_t{0}, std::int64_t{31}, std::int64_t{70}, columns}) {
    Tensor elements = Tensor::zeros(Dtype::float32, {count, columns});
    std::vector<ExactSum> truth(columns);
    std::vector<const std::byte*> rows;
    for (std::int64_t row = 0; row < count; ++row) {
      for (std::int64_t i = 0; i < columns; ++i) {
        const double value = drawn(Kind::common, Dtype::float32, random);
        elements.set(row * columns + i, i == outlier && row == 4 ? 0x1.000002p-50 : value);
        truth[static_cast<std::size_t>(i)].add(elements.at(row * columns + i));
      }
      rows.push_back(elements.data.data() + static_cast<std::size_t>(row * columns) * sizeof(float));
    }
    ExactColumns sums(columns);
    sums.add(Dtype::float32, rows, 0, columns);
    ASSERT_TRUE(sums.are_exact());
    Tensor rounded = Tensor::zeros(Dtype::float32, {columns});
    sums.round(Dtype::float32, rounded.data.data());
    for (std::int64_t i = 0; i < columns; ++i) {
      ASSERT_EQ(rounded.at(i), truth[static_cast<std::size_t>(i)].rounded(Dtype::float32)) << outlier << " " << i;
      ASSERT_EQ(sums.low(i) != 0, i == outlier) << outlier << " " << i;
    }
  }
}

}  // namespace
}  // namespace sextant::kernels_exact_columns_test
