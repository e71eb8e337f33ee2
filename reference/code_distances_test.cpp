#include "reference/code_distances.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "reference/frequency.hpp"

namespace sextant::reference::code_distances_test {
namespace {

struct Frequencies {
  std::vector<double> radians;
  std::vector<FixedTurns> turns;
};

Frequencies sinusoidal(std::int64_t dim) {
  GeometricFrequencies frequencies(10000, 2, dim, dim / 2);
  Frequencies list;
  for (std::int64_t pair = 0; pair < dim / 2; ++pair) {
    list.radians.push_back(frequencies.radians(pair, first_precision).upper());
    list.turns.push_back(fixed_turns([&](Precision precision) { return frequencies.radians(pair, precision); }));
  }
  return list;
}

// Every offset, in double: good enough up to some thousands of them.
CodeDistances by_hand(const std::vector<double>& radians, std::int64_t most_offset, std::size_t aliases) {
  std::vector<double> distance(static_cast<std::size_t>(most_offset) + 1);
  for (std::size_t k = 0; k < distance.size(); ++k) {
    double sum = 0;
    for (const double w : radians) sum += std::pow(2 * std::sin(static_cast<double>(k) * w / 2), 2);
    distance[k] = std::sqrt(sum);
  }
  CodeDistances result{most_offset, {1, distance[1]}, most_offset, {}};
  for (std::size_t k = 1; k < distance.size(); ++k) {
    const auto offset = static_cast<std::int64_t>(k);
    if (distance[k] < result.nearest.distance) result.nearest = {offset, distance[k]};
    if (k > 1 && k + 1 < distance.size() && distance[k] < distance[k - 1] && distance[k] <= distance[k + 1])
      result.aliases.push_back({offset, distance[k]});
  }
  std::ranges::stable_sort(result.aliases, {}, &OffsetDistance::distance);
  if (result.aliases.size() > aliases) result.aliases.resize(aliases);
  return result;
}

void expect_same(const CodeDistances& one, const CodeDistances& other) {
  EXPECT_EQ(one.searched, other.searched);
  EXPECT_EQ(one.searched_for_aliases, other.searched_for_aliases);
  EXPECT_EQ(one.nearest.offset, other.nearest.offset);
  EXPECT_NEAR(one.nearest.distance, other.nearest.distance, 1e-9);
  ASSERT_EQ(one.aliases.size(), other.aliases.size());
  for (std::size_t i = 0; i < one.aliases.size(); ++i) {
    EXPECT_EQ(one.aliases[i].offset, other.aliases[i].offset) << i;
    EXPECT_NEAR(one.aliases[i].distance, other.aliases[i].distance, 1e-9) << i;
  }
}

TEST(CodeDistances, AreThoseOfEveryOffset) {
  for (const std::int64_t dim : {2, 4, 6, 8, 32, 128, 512}) {
    SCOPED_TRACE(dim);
    const Frequencies list = sinusoidal(dim);
    for (const std::int64_t most : {1, 2, 3, 7, 50, 1000, 20000})
      expect_same(code_distances(list.turns, most, 3), by_hand(list.radians, most, 3));
  }
}

// 710 = 113 turns of one radian but for 6e-5: the least of sin(k) up to 100000, whose continued fraction has 355/113.
TEST(CodeDistances, KnowTheNearestAliasOfOneRadian) {
  const CodeDistances found = code_distances(sinusoidal(2).turns, 100000, 3);
  EXPECT_EQ(found.nearest.offset, 710);
  EXPECT_NEAR(found.nearest.distance, 2 * std::fabs(std::sin(355.0)), 1e-12);
  EXPECT_EQ(found.searched, 100000);
}

TEST(CodeDistances, GoToTheEndOfLongClaims) {
  const std::int64_t most = (std::int64_t{1} << 31) - 1;
  for (const std::int64_t dim : {64, 512}) {
    const CodeDistances found = code_distances(sinusoidal(dim).turns, most, 3);
    EXPECT_EQ(found.searched, most) << dim;
    EXPECT_EQ(found.nearest.offset, 1) << dim;
    for (const OffsetDistance& alias : found.aliases) EXPECT_GE(alias.distance, found.nearest.distance) << dim;
  }
}

TEST(CodeDistances, SayHowFarTheyWent) {
  const std::int64_t most = std::int64_t{1} << 54;
  const CodeDistances found = code_distances(sinusoidal(2).turns, most, 3);
  EXPECT_LT(found.searched, most);
  EXPECT_GE(found.searched, 1 << 20);
  // Convergents of pi within what was searched.
  EXPECT_LE(found.nearest.distance, 2 * std::fabs(std::sin(355.0)));
}

TEST(CodeDistances, RefuseWhatTheyCannotCompare) {
  EXPECT_THROW(code_distances({}, 5, 3), std::invalid_argument);
  const std::vector<FixedTurns> turns = sinusoidal(4).turns;
  EXPECT_THROW(code_distances(turns, 0, 3), std::invalid_argument);
  EXPECT_THROW(code_distances(turns, (std::int64_t{1} << 54) + 1, 3), std::invalid_argument);
}

}  // namespace
}  // namespace sextant::reference::code_distances_test
