#include "reference/alibi.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "reference/decimal.hpp"

namespace sextant::reference::alibi_test {
namespace {

constexpr Precision precision{128};

Alibi with(std::int64_t heads) {
  Alibi encoding;
  encoding.num_heads = heads;
  return encoding;
}

TEST(AlibiReference, EightHeadsHaveTheWholePowers) {
  AlibiReference reference(with(8));
  for (std::int64_t head = 0; head < 8; ++head) {
    EXPECT_TRUE(is_exactly(reference.slope(head, precision), std::ldexp(1.0, -static_cast<int>(head) - 1)));
  }
  EXPECT_TRUE(is_exactly(AlibiReference(with(1)).slope(0, precision), 0x1p-8));
}

TEST(AlibiReference, TenAndTwelveHeadsAddThoseOfSixteen) {
  const char* added[] = {"0.707106781186547524400844362105", "0.353553390593273762200422181052",
                         "0.176776695296636881100211090526", "0.0883883476483184405501055452631"};
  for (const std::int64_t heads : {10, 12}) {
    AlibiReference reference(with(heads));
    for (std::int64_t head = 0; head < 8; ++head) {
      EXPECT_TRUE(is_exactly(reference.slope(head, precision), std::ldexp(1.0, -static_cast<int>(head) - 1)));
    }
    for (std::int64_t head = 8; head < heads; ++head)
      EXPECT_TRUE(agrees_with(reference.slope(head, Precision{256}), added[head - 8]));
  }
}

// By mpmath 1.3 at 400 bits: 2^(-8 (h+1)/32) for 32 heads, then 2^(-8 (2j+1)/64).
TEST(AlibiReference, FortyHeads) {
  struct Row {
    std::int64_t head;
    const char* slope;
  };
  const Row rows[] = {{0, "0.840896415253714543031125476233"},   {4, "0.420448207626857271515562738117"},
                      {18, "0.0371627223438350333349218740800"}, {30, "0.00464534029297937916686523426000"},
                      {32, "0.917004043204671231743541594794"},  {33, "0.771105412703970411806145931045"},
                      {36, "0.458502021602335615871770797397"},  {39, "0.272626933166314414801752663940"}};
  AlibiReference reference(with(40));
  for (const Row& row : rows) {
    EXPECT_TRUE(agrees_with(reference.slope(row.head, Precision{256}), row.slope)) << row.head;
    EXPECT_TRUE(overlap(reference.slope(row.head, precision), reference.slope(row.head, Precision{512})));
  }
  EXPECT_TRUE(is_exactly(reference.slope(31, precision), 0x1p-8));
}

// As many heads as a spec may have, and one less: 2^(-8 (h+1)/65536); the last of 65535 is head 65532 of 65536. By
// Python's decimal at 60 digits.
TEST(AlibiReference, TheMostHeads) {
  AlibiReference most(with(65536));
  EXPECT_TRUE(agrees_with(most.slope(0, Precision{256}), "0.999915390886613497533724971564"));
  EXPECT_TRUE(agrees_with(most.slope(65534, Precision{256}), "0.00390658053231521216094778644837"));
  EXPECT_TRUE(is_exactly(most.slope(8191, precision), 0.5));
  EXPECT_TRUE(is_exactly(most.slope(65535, precision), 0x1p-8));
  AlibiReference one_less(with(65535));
  EXPECT_TRUE(agrees_with(one_less.slope(0, Precision{256}), "0.999830788931929063117480780198"));
  EXPECT_TRUE(agrees_with(one_less.slope(32768, Precision{256}), "0.999915390886613497533724971564"));
  EXPECT_TRUE(agrees_with(one_less.slope(65534, Precision{256}), "0.00390724168085324062048852918032"));
  EXPECT_LT(most.slope(65534, precision).width(), 0x1p-128);
}

// Of 12 heads one geometric sequence: 2^(-2(h+1)/3), by Python's decimal at 60 digits.
TEST(AlibiReference, GeometricSlopesAreOneSequenceForAnyNumberOfHeads) {
  Alibi encoding = with(12);
  encoding.slopes = AlibiSlopes::geometric;
  AlibiReference reference(encoding);
  EXPECT_TRUE(agrees_with(reference.slope(0, Precision{256}), "0.629960524947436582383605303639"));
  EXPECT_TRUE(agrees_with(reference.slope(1, Precision{256}), "0.396850262992049868687926409818"));
  EXPECT_TRUE(is_exactly(reference.slope(2, precision), 0.25));
  EXPECT_TRUE(is_exactly(reference.slope(11, precision), 0x1p-8));
  encoding.num_heads = 65536;
  AlibiReference most(encoding);
  AlibiReference released(with(65536));
  for (const std::int64_t head : {0, 1, 8191, 65535})
    EXPECT_TRUE(overlap(most.slope(head, precision), released.slope(head, precision)));
}

// 2^(-16 (h+1)/8), then 2^(-16 (2j+1)/16) of 12 heads; 2^(-24 (h+1)/10): by Python's decimal at 60 digits.
TEST(AlibiReference, TheLastOfAPowerOfTwoHasTheLargestExponent) {
  Alibi encoding = with(12);
  encoding.bias_max = 16;
  AlibiReference released(encoding);
  for (std::int64_t head = 0; head < 8; ++head)
    EXPECT_TRUE(is_exactly(released.slope(head, precision), std::ldexp(1.0, -2 * static_cast<int>(head) - 2)));
  for (std::int64_t head = 8; head < 12; ++head)
    EXPECT_TRUE(is_exactly(released.slope(head, precision), std::ldexp(1.0, -2 * static_cast<int>(head - 8) - 1)));
  encoding.num_heads = 10;
  encoding.bias_max = 24;
  encoding.slopes = AlibiSlopes::geometric;
  AlibiReference geometric(encoding);
  EXPECT_TRUE(agrees_with(geometric.slope(0, Precision{256}), "0.189464570813799760293407475163"));
  EXPECT_TRUE(agrees_with(geometric.slope(8, Precision{256}), "0.000000314595201199744763225079052741"));
  EXPECT_TRUE(is_exactly(geometric.slope(4, precision), 0x1p-12));
  EXPECT_TRUE(is_exactly(geometric.slope(9, precision), 0x1p-24));
}

// 2^-0.5 and 2^-1.5, rounded: Python's decimal at 60 digits, and struct for float32; the product is exact.
TEST(AlibiReference, SlopesOfADtypeAreTheNearestOfIt) {
  Alibi encoding = with(12);
  encoding.mask = Mask::symmetric;
  const std::pair<Dtype, double> nearest_to_root[] = {{Dtype::bfloat16, 0x1.6ap-1},
                                                      {Dtype::float16, 0x1.6ap-1},
                                                      {Dtype::float32, 0x1.6a09e6p-1},
                                                      {Dtype::float64, 0x1.6a09e667f3bcdp-1}};
  for (const auto& [dtype, value] : nearest_to_root) {
    encoding.slope_dtype = dtype;
    AlibiReference reference(encoding);
    EXPECT_TRUE(is_exactly(reference.slope(8, precision), value)) << name_of(dtype);
    EXPECT_TRUE(is_exactly(reference.slope(9, precision), value / 2)) << name_of(dtype);
    EXPECT_TRUE(is_exactly(reference.slope(2, precision), 0.125)) << name_of(dtype);
    EXPECT_TRUE(is_exactly(*reference.bias(3, 7, 8, precision), -4 * value)) << name_of(dtype);
    EXPECT_TRUE(agrees_with(reference.real_slope(8, Precision{256}), "0.707106781186547524400844362104"));
  }
}

// Where B (h+1) / n is whole, the slope is exact, however many roots it took to come there.
TEST(AlibiReference, WholePowersAreExactWhateverTheLargestExponent) {
  for (std::int64_t most = 1; most <= 24; ++most) {
    Alibi encoding = with(64);
    encoding.bias_max = most;
    AlibiReference reference(encoding);
    for (std::int64_t head = 0; head < 64; ++head) {
      if (most * (head + 1) % 64 != 0) continue;
      const int whole = static_cast<int>(most * (head + 1) / 64);
      EXPECT_TRUE(is_exactly(reference.slope(head, precision), std::ldexp(1.0, -whole))) << most << ' ' << head;
    }
  }
}

TEST(AlibiReference, CausalBiasFallsWithTheDistanceAndHidesLaterKeys) {
  AlibiReference reference(with(8));
  EXPECT_TRUE(is_exactly(*reference.bias(10, 3, 1, precision), -7 * 0.25));
  EXPECT_TRUE(is_exactly(*reference.bias(10, 10, 1, precision), 0));
  EXPECT_FALSE(reference.bias(3, 10, 1, precision).has_value());
}

TEST(AlibiReference, SymmetricBiasSeesBothSides) {
  Alibi encoding = with(8);
  encoding.mask = Mask::symmetric;
  AlibiReference reference(encoding);
  EXPECT_TRUE(is_exactly(*reference.bias(3, 10, 1, precision), -7 * 0.25));
  EXPECT_TRUE(is_exactly(*reference.bias(10, 3, 1, precision), -7 * 0.25));
}

TEST(AlibiReference, KeyIndexDiffersFromTheDistanceByOneConstantInEachRow) {
  Alibi encoding = with(12);
  encoding.form = AlibiForm::key_index;
  AlibiReference by_key(encoding);
  AlibiReference by_distance(with(12));
  EXPECT_TRUE(is_exactly(*by_key.bias(20, 6, 0, precision), 3));
  EXPECT_FALSE(by_key.bias(6, 20, 0, precision).has_value());
  for (std::int64_t head = 0; head < 12; ++head) {
    const Enclosure constant = *by_key.bias(20, 0, head, precision) - *by_distance.bias(20, 0, head, precision);
    for (std::int64_t key = 1; key <= 20; ++key) {
      EXPECT_TRUE(
          overlap(*by_key.bias(20, key, head, precision) - *by_distance.bias(20, key, head, precision), constant));
    }
  }
}

}  // namespace
}  // namespace sextant::reference::alibi_test
