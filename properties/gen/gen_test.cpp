#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <vector>

#include "properties/gen/cells.hpp"
#include "properties/gen/placement.hpp"
#include "properties/gen/position.hpp"
#include "properties/gen/shrink.hpp"
#include "properties/gen/vectors.hpp"

namespace sextant::gen::gen_test {
namespace {

std::vector<std::int64_t> draw(PositionRange range, int count) {
  rc::Random random(1);
  const rc::Gen<std::int64_t> generator = position(range);
  std::vector<std::int64_t> drawn;
  for (int i = 0; i < count; ++i) drawn.push_back(generator(random.split()).value());
  return drawn;
}

RC_GTEST_PROP(Position, StaysInItsRange, ()) {
  const auto first = *rc::gen::inRange<std::int64_t>(-(std::int64_t{1} << 53), std::int64_t{1} << 53);
  const auto width = *rc::gen::inRange<std::int64_t>(1, 1000);
  for (const std::int64_t p : draw({first, first + width}, 30)) RC_ASSERT(p >= first && p < first + width);
}

TEST(Position, EveryRegimeTurnsUp) {
  const std::vector<std::int64_t> drawn = draw({0, 131072}, 2000);
  const std::set<std::int64_t> seen(drawn.begin(), drawn.end());
  for (const std::int64_t p :
       {0, 1, 2, 255, 256, 257, 2047, 2048, 2049, 4096, 8191, 65520, 65535, 65536, 131070, 131071}) {
    EXPECT_TRUE(seen.contains(p)) << p;
  }
  // Uniform draws reach the upper half, log-uniform ones the small numbers between powers of two.
  EXPECT_GT(std::count_if(drawn.begin(), drawn.end(), [](std::int64_t p) { return p > 65537; }), 200);
  EXPECT_GT(std::count_if(drawn.begin(), drawn.end(), [](std::int64_t p) { return p > 9 && p < 100; }), 50);
}

// Those where implementations were seen to break, in a claim that reaches over them all.
TEST(Position, EveryPlaceOfTheListTurnsUpInAFarClaim) {
  const std::vector<std::int64_t> drawn = draw({0, (std::int64_t{1} << 40) + 2}, 4000);
  const std::set<std::int64_t> seen(drawn.begin(), drawn.end());
  for (const std::int64_t p :
       {std::int64_t{0}, std::int64_t{1}, std::int64_t{257}, std::int64_t{2049}, std::int64_t{4096}, std::int64_t{8191},
        std::int64_t{65520}, std::int64_t{131071}, std::int64_t{1'000'000}, (std::int64_t{1} << 24) - 1,
        (std::int64_t{1} << 24) + 1, (std::int64_t{1} << 31) - 1, std::int64_t{1} << 40}) {
    EXPECT_TRUE(seen.contains(p)) << p;
  }
  for (int k = 0; k <= 40; ++k) {
    for (const std::int64_t nudge : {-1, 0, 1})
      EXPECT_TRUE(seen.contains((std::int64_t{1} << k) + nudge)) << k << " " << nudge;
  }
}

TEST(Position, NegativeAndFarRangesAreCovered) {
  const std::vector<std::int64_t> drawn = draw({-(std::int64_t{1} << 53), std::int64_t{1} << 53}, 500);
  EXPECT_GT(std::count_if(drawn.begin(), drawn.end(), [](std::int64_t p) { return p < 0; }), 100);
  EXPECT_GT(std::count_if(drawn.begin(), drawn.end(), [](std::int64_t p) { return p > (std::int64_t{1} << 40); }), 50);
  for (const std::int64_t p : draw({-9, -4}, 100)) EXPECT_TRUE(p >= -9 && p < -4);
}

// Token by token, of three rows.
std::vector<std::vector<std::int64_t>> rows_of(Order order, std::int64_t tokens) {
  std::vector<std::vector<std::int64_t>> rows(3);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    for (std::int64_t token = 0; token < tokens; ++token)
      rows[row].push_back(steps(order, static_cast<std::int64_t>(row), token, tokens));
  }
  return rows;
}

TEST(Order, RowsShareWhatItsNameSays) {
  for (const std::int64_t tokens : {1, 2, 3, 4, 64, 100}) {
    std::vector<std::int64_t> in_order(static_cast<std::size_t>(tokens));
    std::iota(in_order.begin(), in_order.end(), 0);
    for (const Order order : {Order::shuffled_between_ends, Order::first_row_one_by_one}) {
      const auto rows = rows_of(order, tokens);
      EXPECT_EQ(rows[0] == in_order, order == Order::first_row_one_by_one || tokens < 4) << tokens;
      for (std::vector<std::int64_t> row : rows) {
        EXPECT_EQ(row.front(), 0);
        EXPECT_EQ(row.back(), tokens - 1);
        std::ranges::sort(row);
        EXPECT_EQ(row, in_order) << tokens;
      }
      EXPECT_EQ(rows[1] != rows[2], tokens > 3) << tokens;
    }
    const auto other = rows_of(Order::every_other_row_equal, tokens);
    EXPECT_TRUE(other[0] == other[2] && other[0] != other[1]) << tokens;
    const auto pairs = rows_of(Order::rows_equal_in_pairs, tokens);
    EXPECT_TRUE(pairs[0] == pairs[1] && pairs[0] != pairs[2]) << tokens;
    const auto after = rows_of(Order::row_after_row, tokens);
    EXPECT_EQ(after[1].front(), after[0].back() + 1) << tokens;
  }
}

// The values that the search for a counterexample would try, walking down from `start` as the engine does.
std::int64_t shrunk(std::int64_t start, std::int64_t target, bool (*fails)(std::int64_t)) {
  for (bool simpler = true; simpler;) {
    simpler = false;
    auto candidates = simpler_integers(start, target);
    while (const auto candidate = candidates.next()) {
      if (!fails(*candidate)) continue;
      start = *candidate;
      simpler = true;
      break;
    }
  }
  return start;
}

TEST(Shrink, FindsWhereANarrowTypeEnds) {
  // Integers that bfloat16 does not hold.
  EXPECT_EQ(shrunk(130999, 0, [](std::int64_t p) { return p > 256 && p % 2 != 0; }), 257);
  EXPECT_EQ(shrunk(130998, 0, [](std::int64_t p) { return p >= 4097; }), 4097);
  EXPECT_EQ(shrunk(130998, 0, [](std::int64_t p) { return p >= 5000; }), 5000);
  EXPECT_EQ(shrunk(-70000, 0, [](std::int64_t p) { return p <= -1000; }), -1000);
  EXPECT_EQ(shrunk(900, 64, [](std::int64_t p) { return p > 64; }), 65);
}

TEST(Shrink, OffersOnlySimplerValues) {
  auto candidates = simpler_integers(5, 0);
  while (const auto candidate = candidates.next()) EXPECT_LT(*candidate, 5);
  EXPECT_FALSE(simpler_integers(7, 7).next());
}

Rope encoding() {
  Rope rope;
  rope.head_dim = 8;
  rope.rotary_dim = 4;
  return rope;
}

TEST(Vectors, FillZeroReadsAsCosineAndSine) {
  const Tensor x = vectors(encoding(), Dtype::float32, {1, 1, 1}, 0);
  const std::vector<double> expected{1, 1, 0, 0, 1, 1, 1, 1};
  for (std::int64_t i = 0; i < 8; ++i) EXPECT_EQ(x.at(i), expected[static_cast<std::size_t>(i)]) << i;
}

TEST(Vectors, AreAFunctionOfTheFillAndMixMagnitudes) {
  const Tensor a = vectors(encoding(), Dtype::float16, {3, 5, 4}, 7);
  EXPECT_EQ(a.data, vectors(encoding(), Dtype::float16, {3, 5, 4}, 7).data);
  EXPECT_NE(a.data, vectors(encoding(), Dtype::float16, {3, 5, 4}, 8).data);
  double least = INFINITY;
  double greatest = 0;
  int negative = 0;
  for (std::int64_t i = 0; i < a.elements(); ++i) {
    ASSERT_LE(std::fabs(a.at(i)), 16);
    least = std::min(least, std::fabs(a.at(i)));
    greatest = std::max(greatest, std::fabs(a.at(i)));
    negative += a.at(i) < 0 ? 1 : 0;
  }
  EXPECT_LT(least, 0.01);
  EXPECT_GT(greatest, 8);
  EXPECT_GT(negative, 150);
  EXPECT_LT(negative, 330);
}

TEST(Vectors, PositionsDifferFromRowToRowAndStayInRange) {
  EXPECT_EQ(positions({0, 100}, 98, {2, 3, 1}), (std::vector<std::int64_t>{98, 99, 0, 5, 6, 7}));
  EXPECT_EQ(positions({-5, -4}, -5, {1, 2, 1}), (std::vector<std::int64_t>{-5, -5}));
}

TEST(Coordinates, LieAsTokensOfTextsImagesAndFilmsDo) {
  using List = std::vector<std::int64_t>;
  EXPECT_EQ(coordinates(Placement::text, 2, 3), (List{0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(coordinates(Placement::image, 3, 6), (List{0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(coordinates(Placement::image_of_one_row, 2, 3), (List{0, 0, 0, 0, 1, 2}));
  EXPECT_EQ(coordinates(Placement::film, 3, 8),
            (List{0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 1, 0, 1, 0, 1, 0, 1}));
  EXPECT_EQ(coordinates(Placement::text_and_image, 3, 6), (List{0, 1, 2, 2, 2, 2, 0, 1, 2, 2, 3, 3, 0, 1, 2, 3, 2, 3}));
  EXPECT_EQ(coordinates(Placement::image, 2, 7), (List{0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6})) << "a prime number";
}

TEST(Coordinates, LieAsTowersAndVideoModelsHaveThem) {
  using List = std::vector<std::int64_t>;
  EXPECT_EQ(coordinates(Placement::portrait, 2, 6), (List{0, 0, 1, 1, 2, 2, 0, 1, 0, 1, 0, 1}));
  EXPECT_EQ(coordinates(Placement::image_of_one_column, 2, 3), (List{0, 1, 2, 0, 0, 0}));
  EXPECT_EQ(coordinates(Placement::strip, 2, 12),
            (List{0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1}));
  EXPECT_EQ(coordinates(Placement::blocks, 2, 8), (List{0, 0, 1, 1, 0, 0, 1, 1, 0, 1, 0, 1, 2, 3, 2, 3}));
  EXPECT_EQ(coordinates(Placement::packed_images, 2, 10),
            (List{0, 0, 0, 1, 1, 1, 0, 0, 1, 1, 0, 1, 2, 0, 1, 2, 0, 1, 0, 1}));
  EXPECT_EQ(coordinates(Placement::class_token_first, 2, 5), (List{0, 0, 0, 1, 1, 0, 0, 1, 0, 1}));
  EXPECT_EQ(coordinates(Placement::class_token_last, 2, 5), (List{1, 1, 2, 2, 0, 1, 2, 1, 2, 0}));
  EXPECT_EQ(coordinates(Placement::long_film, 3, 8),
            (List{0, 0, 2, 2, 4, 4, 6, 6, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 1, 0, 1}));
  EXPECT_EQ(coordinates(Placement::text_image_text, 2, 6), (List{0, 1, 1, 2, 2, 3, 0, 1, 2, 1, 2, 3}));
  EXPECT_EQ(coordinates(Placement::text_and_film, 2, 5), (List{0, 1, 1, 3, 3, 0, 1, 2, 1, 2}));
}

TEST(Coordinates, OfABatchAreImagesThatDiffer) {
  using List = std::vector<std::int64_t>;
  const auto row = [](std::int64_t number) { return coordinates(Placement::images_of_rows, 2, 6, number); };
  EXPECT_EQ(row(0), (List{0, 0, 0, 1, 1, 1, 0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(row(1), (List{0, 0, 1, 1, 2, 2, 0, 1, 0, 1, 0, 1}));
  EXPECT_EQ(row(2), (List{0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(coordinates(Placement::image_elsewhere, 2, 6, 1), (List{5, 5, 5, 6, 6, 6, 5, 6, 7, 5, 6, 7}));
}

// A claim may name its image: then its sides are those, and its side is on the longer axis or not.
TEST(Coordinates, TakeTheSidesOfAnImageThatIsNamed) {
  const std::vector<std::int64_t> sides{2, 8};
  const auto columns = [&](Placement placement, std::int64_t tokens) {
    const std::vector<std::int64_t> list = coordinates(placement, 2, tokens, 0, sides);
    return 1 + *std::max_element(list.begin() + tokens, list.end());
  };
  EXPECT_EQ(columns(Placement::image, 16), 8);
  EXPECT_EQ(columns(Placement::portrait, 16), 2);
  EXPECT_EQ(columns(Placement::class_token_last, 17), 9);
  EXPECT_EQ(columns(Placement::image, 12), 4);
}

// Every length has every placement, of as many tokens as were asked for, none below 0.
TEST(Coordinates, AreOfEveryLengthAndNumberOfAxes) {
  for (std::int64_t placement = 0; placement < placements; ++placement) {
    for (const std::int64_t axes : {1, 2, 3, 4}) {
      for (std::int64_t tokens = 1; tokens < 90; ++tokens) {
        for (std::int64_t row = 0; row < 5; ++row) {
          const auto list = coordinates(static_cast<Placement>(placement), axes, tokens, row);
          ASSERT_EQ(std::ssize(list), axes * tokens) << placement << " " << axes << " " << tokens;
          ASSERT_GE(*std::ranges::min_element(list), 0);
        }
      }
    }
  }
}

// The cells that a grid's tokens have, as numbers of its raster.
std::vector<std::int64_t> cells_in(Walk walk, std::int64_t rows, std::int64_t columns) {
  const CellCall call{.grids = {{{rows, columns}, walk}}};
  const std::vector<std::int64_t> places = coordinates_of(call);
  std::vector<std::int64_t> cells;
  for (std::int64_t i = 0; i < tokens_of(call); ++i)
    cells.push_back(places[static_cast<std::size_t>(i)] * columns +
                    places[static_cast<std::size_t>(tokens_of(call) + i)]);
  return cells;
}

TEST(Cells, WalksAreWhatTheirNamesSay) {
  using List = std::vector<std::int64_t>;
  EXPECT_EQ(cells_in(Walk::rows, 2, 3), (List{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(cells_in(Walk::columns, 2, 3), (List{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(cells_in(Walk::snake, 2, 3), (List{0, 1, 2, 5, 4, 3}));
  EXPECT_EQ(cells_in(Walk::backwards, 2, 3), (List{5, 4, 3, 2, 1, 0}));
  EXPECT_EQ(cells_in(Walk::upside_down, 2, 3), (List{3, 4, 5, 0, 1, 2}));
  EXPECT_EQ(cells_in(Walk::mirrored, 2, 3), (List{2, 1, 0, 5, 4, 3}));
  EXPECT_EQ(cells_in(Walk::exchanged, 2, 3), (List{0, 1, 3, 2, 4, 5}));
  EXPECT_EQ(cells_in(Walk::repeated, 2, 3), (List{0, 1, 2, 2, 4, 5}));
  EXPECT_EQ(cells_in(Walk::tiles_of_two, 2, 3), (List{0, 1, 3, 4, 2, 5}));
  EXPECT_EQ(cells_in(Walk::tiles_of_two, 3, 2), (List{0, 1, 2, 3, 4, 5}));
}

// Every walk but those of points and of a cell that comes twice has each cell once; those with ends in place keep them.
TEST(Cells, WalksHaveEveryCellOnce) {
  for (std::int64_t walk = 0; walk < walks; ++walk) {
    const auto which = static_cast<Walk>(walk);
    if (which == Walk::repeated || which == Walk::points || which == Walk::points_with_zeros) continue;
    for (const auto& [rows, columns] : {std::pair{1, 1}, {1, 5}, {7, 1}, {5, 6}, {9, 16}}) {
      std::vector<std::int64_t> cells = cells_in(which, rows, columns);
      if (which == Walk::rows_shuffled_inside || which == Walk::shuffled_inside || which == Walk::exchanged ||
          which == Walk::shuffled_within_rows) {
        EXPECT_EQ(cells.front(), 0) << walk;
        EXPECT_EQ(cells.back(), rows * columns - 1) << walk;
        EXPECT_TRUE(rows < 5 || columns < 5 || !std::ranges::is_sorted(cells)) << walk;
      }
      std::ranges::sort(cells);
      for (std::size_t i = 0; i < cells.size(); ++i)
        ASSERT_EQ(cells[i], static_cast<std::int64_t>(i)) << walk << ", " << rows << " x " << columns;
    }
  }
}

TEST(Cells, APartOfSeveralGridsBetweenOtherTokens) {
  const CellGrid small{.sides = {2, 2}};
  const CellCall call{
      .grids = {small, {.sides = {1, 3}, .first = {4, 5}}}, .before = 1, .after = 1, .skipped = 3, .kept = 3};
  EXPECT_EQ(tokens_of(call), 5);
  EXPECT_EQ(coordinates_of(call), (std::vector<std::int64_t>{0, 1, 4, 4, 0, 0, 1, 5, 6, 0}));
}

// No call leaves the claim, whatever its sides; lengths beside each power of two are among them.
RC_GTEST_PROP(Cells, StayInTheClaim, ()) {
  const auto axes = static_cast<std::size_t>(*rc::gen::inRange(2, 5));
  const auto sides = *rc::gen::container<std::vector<std::int64_t>>(axes, rc::gen::inRange<std::int64_t>(1, 60));
  const MostTokens most{.often = 256, .once = 2000, .together = 9000, .length = 600};
  std::vector<CellCall> calls = cell_calls(sides, most);
  std::set<std::int64_t> lengths;
  for (const CellCall& call : calls) lengths.insert(tokens_of(call));
  for (const std::int64_t tokens : {1, 2, 33, 35, 64, 255, 256, 257, 511, 512, 513})
    RC_ASSERT(lengths.contains(tokens));
  const auto number = *rc::gen::inRange<std::int64_t>(0, 1 << 20);
  calls.push_back(drawn_cell_call(sides, most.often, number));
  for (const CellCall& call : calls) {
    const std::int64_t tokens = tokens_of(call);
    RC_ASSERT(tokens >= 1 && tokens <= most.once);
    const std::vector<std::int64_t> places = coordinates_of(call);
    RC_ASSERT(std::ssize(places) == tokens * static_cast<std::int64_t>(axes));
    for (std::int64_t i = 0; i < std::ssize(places); ++i)
      RC_ASSERT(places[static_cast<std::size_t>(i)] >= 0 &&
                places[static_cast<std::size_t>(i)] < sides[static_cast<std::size_t>(i / tokens)]);
  }
}

}  // namespace
}  // namespace sextant::gen::gen_test
