#include "reference/xpos.hpp"

#include <gtest/gtest.h>

#include "reference/decimal.hpp"

namespace sextant::reference::xpos_test {
namespace {

constexpr Precision precision{128};

Xpos with(std::int64_t head_dim, Role role) {
  Xpos encoding;
  encoding.rope.head_dim = head_dim;
  encoding.rope.rotary_dim = head_dim;
  encoding.role = role;
  return encoding;
}

// Computed apart from this code, by mpmath 1.3 at 400 bits: ((2i/64 + 0.4)/1.4)^(+-position/512).
TEST(XposReference, AgreesWithAnIndependentComputation) {
  struct Row {
    std::int64_t position;
    std::int64_t pair;
    const char* query;
    const char* key;
  };
  const Row rows[] = {
      {1000, 0, "0.0865699368828695710032580484849", "11.5513541537290834290382424550"},
      {1000, 31, "0.956867383150940491583450839657", "1.04507690157336628406530858293"},
      {131071, 7, "1.65885996731870234197027078403e-91", "6.02823637739808507210352684482e+90"},
      {-5000, 13, "218.984393299036439811058557015", "0.00456653547284732519695514105090"},
  };
  const XposReference query(with(64, Role::query));
  const XposReference key(with(64, Role::key));
  for (const Row& row : rows) {
    EXPECT_TRUE(agrees_with(query.scale(row.position, row.pair, Precision{256}), row.query)) << row.position;
    EXPECT_TRUE(agrees_with(key.scale(row.position, row.pair, Precision{256}), row.key)) << row.position;
    EXPECT_TRUE(
        overlap(key.scale(row.position, row.pair, Precision{256}), key.scale(row.position, row.pair, precision)));
  }
}

TEST(XposReference, PositionZeroChangesNothing) {
  XposReference reference(with(8, Role::query));
  const RealPair turned = reference.turned(0, 2, {Enclosure(0.1, precision), Enclosure(-3.0, precision)}, precision);
  EXPECT_TRUE(is_exactly(turned.first, 0.1));
  EXPECT_TRUE(is_exactly(turned.second, -3.0));
}

// Sun et al. 2022, section 3.2: <f_q(q, n), f_k(k, m)> = sum_i zeta_i^((n - m)/scale_base) <R(n - m) q_i, k_i>.
TEST(XposReference, TheScoreDependsOnTheDistanceOnly) {
  XposReference query(with(8, Role::query));
  XposReference key(with(8, Role::key));
  const RealPair q{Enclosure(0.5, precision), Enclosure(-1.5, precision)};
  const RealPair k{Enclosure(2.0, precision), Enclosure(0.25, precision)};
  for (std::int64_t pair = 0; pair < 4; ++pair) {
    const auto score = [&](std::int64_t n, std::int64_t m) {
      const RealPair a = query.turned(n, pair, q, precision);
      const RealPair b = key.turned(m, pair, k, precision);
      return a.first * b.first + a.second * b.second;
    };
    EXPECT_TRUE(overlap(score(700, 300), score(400, 0)));
    EXPECT_LT((score(700, 300) - score(400, 0)).upper(), 0x1p-80);
    EXPECT_FALSE(overlap(score(700, 300), score(300, 700)));
  }
}

// torchscale 0.3: min_pos = -(length + offset) // 2, from which on arange counts; x-transformers 2.31: t - max_pos //
// 2.
TEST(XposReference, CountsFromTheCentre) {
  Xpos encoding = with(8, Role::query);
  EXPECT_EQ(XposReference(encoding).counted(7, 9), 7);
  encoding.centre = std::int64_t{10};
  EXPECT_EQ(XposReference(encoding).counted(7, 9), -3);
  const auto counted = [&](HalfOfCall half, std::int64_t position, std::int64_t length) {
    encoding.centre = half;
    return XposReference(encoding).counted(position, length);
  };
  EXPECT_EQ(counted(HalfOfCall::ceil, 0, 9), -5);  // arange(-9 // 2, 9 - 5)
  EXPECT_EQ(counted(HalfOfCall::ceil, 8, 9), 3);
  EXPECT_EQ(counted(HalfOfCall::ceil, 0, 10), -5);
  EXPECT_EQ(counted(HalfOfCall::floor, 0, 9), -4);  // 0 - 9 // 2
  EXPECT_EQ(counted(HalfOfCall::floor, 8, 9), 4);
  EXPECT_EQ(counted(HalfOfCall::floor, 0, 10), -5);
  // As Python rounds: -5 // 2 = -3.
  EXPECT_EQ(counted(HalfOfCall::floor, -7, -5), -4);
  EXPECT_EQ(counted(HalfOfCall::ceil, -7, -5), -5);
}

// ((2 2/8 + 0.4)/1.4)^((0 - 5)/512) by Python's decimal at 60 digits: (9/14)^(-5/512).
TEST(XposReference, PositionZeroIsScaledWhereItIsNotTheCentre) {
  Xpos encoding = with(8, Role::query);
  encoding.centre = HalfOfCall::ceil;
  XposReference reference(encoding);
  const RealPair turned = reference.turned(0, 2, {Enclosure(1.0, precision), Enclosure(0.0, precision)}, precision, 9);
  EXPECT_TRUE(agrees_with(turned.first, "1.004324095007039466805092834855"));
  EXPECT_TRUE(is_exactly(turned.second, 0));
}

// A score does not depend on the centre, the query's and the key's being one.
TEST(XposReference, TheScoreDoesNotDependOnTheCentre) {
  const RealPair q{Enclosure(0.5, precision), Enclosure(-1.5, precision)};
  const RealPair k{Enclosure(2.0, precision), Enclosure(0.25, precision)};
  const auto score = [&](std::variant<std::int64_t, HalfOfCall> centre) {
    Xpos query = with(8, Role::query);
    Xpos key = with(8, Role::key);
    query.centre = key.centre = centre;
    const RealPair a = XposReference(query).turned(700, 1, q, precision, 701);
    const RealPair b = XposReference(key).turned(300, 1, k, precision, 701);
    return a.first * b.first + a.second * b.second;
  };
  const Enclosure plain = score(0);
  for (const std::variant<std::int64_t, HalfOfCall> centre :
       {std::variant<std::int64_t, HalfOfCall>(std::int64_t{-4000}),
        {std::int64_t{333}},
        {HalfOfCall::floor},
        {HalfOfCall::ceil}})
    EXPECT_LT(abs(score(centre) - plain).upper(), 0x1p-80);
}

TEST(XposReference, PartialRotaryScalesByTheRotatedWidth) {
  Xpos encoding = with(16, Role::query);
  encoding.rope.rotary_dim = 8;
  EXPECT_TRUE(overlap(XposReference(encoding).scale(512, 1, precision),
                      XposReference(with(8, Role::query)).scale(512, 1, precision)));
  // zeta_1 = (2/8 + 0.4) / 1.4.
  EXPECT_DOUBLE_EQ(XposReference(encoding).scale(512, 1, precision).upper(), 0.65 / 1.4);
}

}  // namespace
}  // namespace sextant::reference::xpos_test
