// Subjects that take a call for another one, each with the sentence that says which calls and for what.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>
#include <ostream>
#include <string>
#include <vector>

#include "properties/diagnose/places/asked_places.hpp"
#include "properties/diagnose/places/taken_places.hpp"
#include "properties/diagnose/places/wrong_places.hpp"
#include "subjects/builtin.hpp"
#include "subjects/function.hpp"

namespace sextant::identify::identify_wrong_calls_test {
namespace {

// The tokens of a batch row, and of its batch's first, are taken for other ones.
using Mistaken = std::function<void(std::vector<Place>& row, const std::vector<Place>& first)>;

struct Taken {
  std::string name;
  std::string claim;
  Mistaken mistaken;
  std::string words;
};

void PrintTo(const Taken& taken, std::ostream* stream) { *stream << taken.name; }

constexpr auto rope = R"({"encoding":"rope","head_dim":32,"max_position":2000})";
constexpr auto table = R"({"encoding":"sinusoidal","dim":32,"max_position":2000})";
constexpr auto grid = R"({"encoding":"sinusoidal_2d","dim":16,"height":6,"width":9})";

FunctionSubject subject_of(const Mistaken& mistaken) {
  return {"another call", [mistaken](const Spec& spec) -> FunctionSubject::Call {
            const std::shared_ptr<Session> right = builtin_subject()->open(spec);
            const std::int64_t axes = axes_of(spec.encoding);
            return [right, mistaken, axes](std::string_view operation, const Tensors& inputs) {
              const Tensor& given = inputs.at("positions");
              AskedPlaces asked{.positions = given.integers(), .axes = axes, .tokens = given.shape.back()};
              asked.batches = std::ssize(asked.positions) / axes / asked.tokens;
              std::vector<std::int64_t> taken = asked.positions;
              for (std::int64_t batch = 0; batch < asked.batches; ++batch) {
                std::vector<Place> row = asked.row(batch);
                mistaken(row, asked.row(0));
                for (std::int64_t axis = 0; axis < axes; ++axis) {
                  for (std::int64_t token = 0; token < asked.tokens; ++token)
                    taken[index((axis * asked.batches + batch) * asked.tokens + token)] =
                        row[index(token)][index(axis)];
                }
              }
              Tensors changed = inputs;
              changed.at("positions") = Tensor::of_integers(given.shape, taken);
              return right->call(operation, changed);
            };
          }};
}

std::string said(const Mistaken& mistaken, const std::string& claim) {
  const auto right = builtin_subject();
  const auto place = wrong_places(subject_of(mistaken), parse_spec(claim), {.proposer = right.get()});
  return place ? place->words : "nothing";
}

void change_repeats(std::vector<Place>& row, const std::function<Place(const Place& before)>& changed) {
  const std::vector<Place> given = row;
  for (std::size_t i = 1; i < row.size(); ++i) {
    if (given[i] == given[i - 1]) row[i] = changed(given[i]);
  }
}

const std::vector<Taken>& taken() {
  static const std::vector<Taken> list{
      {"repeat_of_a_code", table,
       [](auto& row, const auto&) { change_repeats(row, [](const Place& p) { return Place{p[0] + 1}; }); },
       "tokens at the position of the token before have one position more than their own, and the rest is right"},
      {"repeat_of_a_rotation", rope,
       [](auto& row, const auto&) { change_repeats(row, [](const Place& p) { return Place{p[0] + 1}; }); },
       "tokens at the position of the token before have one position more than their own, and the rest is right"},
      {"four_equal", table,
       [](auto& row, const auto&) {
         if (row.size() > 4 && std::all_of(row.begin(), row.begin() + 4, [&](const Place& p) { return p == row[0]; }))
           std::ranges::fill(row, Place(row[0]));
       },
       "calls whose first four positions are equal have the position of the call's first token, and the rest is right"},
      {"ends_of_the_first_row", rope,
       [](auto& row, const auto& first) {
         if (row.front() == first.front() && row.back() == first.back()) row = first;
       },
       "rows of a batch that begin and end where its first does have the positions of the batch's first row, and the "
       "rest is right"},
      {"consecutive_by_ends", rope,
       [](auto& row, const auto&) {
         if (row.back()[0] - row.front()[0] != std::ssize(row) - 1) return;
         for (std::size_t i = 1; i < row.size(); ++i) row[i][0] = row[0][0] + static_cast<std::int64_t>(i);
       },
       "calls whose last position is as far from the first as if they followed each other are taken to follow the "
       "first token one by one, and the rest is right"},
      {"falling_positions_halved", rope,
       [](auto& row, const auto&) {
         const std::vector<Place> given = row;
         for (std::size_t i = 1; row.size() > 8 && i < row.size(); ++i) {
           if (given[i][0] < given[i - 1][0]) row[i][0] /= 2;
         }
       },
       "tokens at a lower position than the token before, in calls of 9 and more tokens, have half their position, "
       "rounded down, and the rest is right"},
      {"last_row_of_a_table", table,
       [](auto& row, const auto&) {
         for (Place& place : row) place[0] = std::min<std::int64_t>(place[0], 1023);
       },
       "positions above 1023 are clamped to it"},
      {"page_before", rope,
       [](auto& row, const auto&) {
         for (Place& place : row) {
           if (place[0] > 256 && place[0] % 256 == 255) place[0] -= 256;
         }
       },
       "positions from 511 on, at every 256th position from number 255 on, have a position 256 less than their own, "
       "and "
       "the rest is right"},
      {"second_grid_of_three_rows", grid,
       [](auto& row, const auto&) {
         for (std::size_t i = 4; i < row.size(); ++i) {
           if (row[i] != row[0] || row[i - 1][0] != row[0][0] + 2) continue;
           for (std::size_t later = i; later < row.size(); ++later) row[later][0] = (row[later][0] + 3) % 6;
           return;
         }
       },
       "tokens behind a first grid of 3 rows go on below it, and the rest is right"},
      {"cells_by_count", grid,
       [](auto& row, const auto&) {
         for (std::size_t i = 0; row.size() == 54 && i < 54; ++i)
           row[i] = {static_cast<std::int64_t>(i) / 9, static_cast<std::int64_t>(i) % 9};
       },
       "calls of 54 tokens are taken for the grid's cells row after row, and the rest is right"},
      {"first_column", grid,
       [](auto& row, const auto&) {
         if (!std::ranges::all_of(row, [](const Place& p) { return p[1] == 0; })) return;
         for (Place& place : row) std::swap(place[0], place[1]);
       },
       "calls whose second coordinates are all 0 have their first two coordinates exchanged, and the rest is right"},
      {"right", grid, [](auto&, const auto&) {}, "nothing"},
  };
  return list;
}

class WrongPlacesOfCalls : public testing::TestWithParam<Taken> {};

TEST_P(WrongPlacesOfCalls, AreNamed) { EXPECT_EQ(said(GetParam().mistaken, GetParam().claim), GetParam().words); }

std::string name_of_taken(const testing::TestParamInfo<Taken>& told) { return told.param.name; }

INSTANTIATE_TEST_SUITE_P(Calls, WrongPlacesOfCalls, testing::ValuesIn(taken()), name_of_taken);

constexpr auto far_rope = R"({"encoding":"rope","head_dim":64,"max_position":17179869184})";

TEST(WrongPlacesOfFarPositions, AreNotToldWhereAnyOtherPositionIsRightToo) {
  constexpr std::int64_t of_31_bits = std::int64_t{1} << 31;
  const auto wrapped = [](auto& row, const auto&) {
    for (Place& place : row) place[0] = place[0] < of_31_bits ? place[0] : place[0] * 7 % of_31_bits;
  };
  const auto clamped = [](auto& row, const auto&) {
    for (Place& place : row) place[0] = std::min(place[0], of_31_bits - 1);
  };
  for (const Mistaken& mistaken : {Mistaken(wrapped), Mistaken(clamped)}) {
    const std::string words = said(mistaken, far_rope);
    EXPECT_EQ(words.find("last position"), std::string::npos) << words;
    EXPECT_EQ(words.find("first token"), std::string::npos) << words;
  }
}

// 1 less 2^33 is -2^33 in float32, and 0 when that is added again; what is near the row's first is right.
TEST(TakenPlacesOfFarPositions, MayBeSumsInFloat32) {
  constexpr std::int64_t far = std::int64_t{1} << 33;
  const auto other = std::ranges::find_if(taken_places(), [](const TakenPlace& place) {
    return place.of_many.find("the sum, in float32, of their row's first one") != std::string::npos;
  });
  ASSERT_NE(other, taken_places().end());
  const AskedPlaces asked{.positions = {far, 1, far + 4096, 5, 1, far + 1}, .axes = 1, .batches = 2, .tokens = 3};
  EXPECT_EQ(other->at(asked, 0, 1), Place{0});
  EXPECT_EQ(other->at(asked, 0, 2), Place{far + 4096});
  EXPECT_EQ(other->at(asked, 1, 1), Place{1});
  EXPECT_EQ(other->at(asked, 1, 2), Place{far});
}

// A rule of lengths that begins one late: calls of one length have no rule.
TEST(WrongPlacesOfLengths, AreCallsOfOneGreatestPosition) {
  const std::string claim = R"({"encoding":"rope","head_dim":64,"max_position":16384,"rope_scaling":)"
                            R"({"rope_type":"dynamic","factor":4,"original_max_position_embeddings":2048}})";
  const FunctionSubject subject("late", [](const Spec& spec) -> FunctionSubject::Call {
    Spec plain = spec;
    std::get<Rope>(plain.encoding).rope_scaling = DefaultScaling{};
    const std::shared_ptr<Session> right = builtin_subject()->open(spec);
    const std::shared_ptr<Session> without_rule = builtin_subject()->open(plain);
    return [right, without_rule](std::string_view operation, const Tensors& inputs) {
      const std::vector<std::int64_t> positions = inputs.at("positions").integers();
      const bool is_late = !positions.empty() && std::ranges::max(positions) == 2048;
      return (is_late ? without_rule : right)->call(operation, inputs);
    };
  });
  const auto right = builtin_subject();
  const auto place = wrong_places(subject, parse_spec(claim), {.proposer = right.get()});
  ASSERT_TRUE(place);
  EXPECT_EQ(place->words, "calls whose greatest position is 2048 are wrong, and the rest is right");
}

// The last token, which has none after it, is right.
TEST(WrongPlacesOfHeads, HaveThePositionOfTheTokenAfter) {
  const FunctionSubject subject("odd heads", [](const Spec& spec) -> FunctionSubject::Call {
    const std::shared_ptr<Session> right = builtin_subject()->open(spec);
    return [right](std::string_view operation, const Tensors& inputs) {
      Tensors outputs = right->call(operation, inputs);
      Tensors changed = inputs;
      Tensor& given = changed.at("positions");
      std::vector<std::int64_t> positions = given.integers();
      const std::int64_t tokens = given.shape.back();
      for (std::int64_t i = 0; i + 1 < std::ssize(positions); ++i) {
        if (i % tokens + 1 < tokens) positions[index(i)] = positions[index(i + 1)];
      }
      given = Tensor::of_integers(given.shape, positions);
      const Tensor other = right->call(operation, changed).at("y");
      Tensor& y = outputs.at("y");
      for (std::int64_t i = 0; i < y.elements(); ++i) {
        if (i / y.shape[3] % y.shape[2] % 2 == 1) y.set(i, other.at(i));
      }
      return outputs;
    };
  });
  const auto right = builtin_subject();
  const auto place = wrong_places(subject, parse_spec(rope), {.proposer = right.get()});
  ASSERT_TRUE(place);
  EXPECT_EQ(
      place->words,
      "odd heads have the position of the token after, but for the last, which has its own, and the rest is right");
}

// Vectors are skipped by a channel, and sizes part those that were looked at by chance.
TEST(WrongPlacesOfSizes, AreNotToldWhereOtherVectorsOfTheSizeAreRight) {
  const FunctionSubject subject("zeros are padding", [](const Spec& spec) -> FunctionSubject::Call {
    const std::shared_ptr<Session> right = builtin_subject()->open(spec);
    return [right](std::string_view operation, const Tensors& inputs) {
      Tensors outputs = right->call(operation, inputs);
      const Tensor& x = inputs.at("x");
      Tensor& y = outputs.at("y");
      const std::int64_t width = x.shape.back();
      for (std::int64_t i = 0; i < x.elements(); ++i) {
        if (x.at(i / width * width) == 0) y.set(i, x.at(i));
      }
      return outputs;
    };
  });
  const auto right = builtin_subject();
  const auto place = wrong_places(subject, parse_spec(rope), {.proposer = right.get()});
  EXPECT_FALSE(place && place->words.find("greatest value") != std::string::npos) << place->words;
}

}  // namespace
}  // namespace sextant::identify::identify_wrong_calls_test
