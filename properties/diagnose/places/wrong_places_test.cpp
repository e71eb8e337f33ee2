// Subjects that compute as the built-in one does but for values in some places, each with the sentence that names the
// place.

#include "properties/diagnose/places/wrong_places.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "properties/diagnose/diagnose.hpp"
#include "properties/verdict/diagnosis.hpp"
#include "subjects/builtin.hpp"
#include "subjects/function.hpp"

namespace sextant::identify::identify_wrong_places_test {
namespace {

// A value of an answer, the one given for it if any, and where it stands.
struct Value {
  double y;
  double x;
  std::int64_t batch;
  std::int64_t token;
  std::int64_t tokens;
  std::int64_t head;
  std::int64_t channel;
  std::int64_t position;
};

using Changed = std::function<double(const Value& value)>;

struct Misplaced {
  std::string name;
  std::string claim;
  Changed changed;
  std::string words;
};

void PrintTo(const Misplaced& row, std::ostream* stream) { *stream << row.name; }

constexpr auto rope = R"({"encoding":"rope","head_dim":32,"max_position":20000})";
constexpr auto partial = R"({"encoding":"rope","head_dim":32,"rotary_dim":16,"max_position":20000})";
constexpr auto table = R"({"encoding":"sinusoidal","dim":32,"max_position":20000})";

FunctionSubject subject_of(const Changed& changed) {
  return {"one place", [changed](const Spec& spec) -> FunctionSubject::Call {
            const std::shared_ptr<Session> right = builtin_subject()->open(spec);
            return [right, changed](std::string_view operation, const Tensors& inputs) {
              Tensors outputs = right->call(operation, inputs);
              Tensor& y = outputs.begin()->second;
              const std::vector<std::int64_t> positions = inputs.at("positions").integers();
              const auto x = inputs.find("x");
              const bool turns = x != inputs.end();
              const std::int64_t width = y.shape.back();
              const std::int64_t heads = turns ? y.shape[2] : 1;
              const std::int64_t tokens = turns ? y.shape[1] : y.shape[0];
              for (std::int64_t i = 0; i < y.elements(); ++i) {
                const std::int64_t token = i / width / heads;
                y.set(i, changed({y.at(i), turns ? x->second.at(i) : 0, token / tokens, token % tokens, tokens,
                                  i / width % heads, i % width, positions[static_cast<std::size_t>(token)]}));
              }
              return outputs;
            };
          }};
}

std::string said(const Changed& changed, const std::string& claim) {
  const auto right = builtin_subject();
  const Spec spec = parse_spec(claim);
  const auto place = wrong_places(subject_of(changed), spec, {.proposer = right.get()});
  return place ? place->words : "nothing";
}

const std::vector<Misplaced>& misplaced() {
  static const std::vector<Misplaced> list{
      {"last_token", rope, [](const Value& v) { return v.token == v.tokens - 1 ? v.x : v.y; },
       "the last token of a call is not rotated, and the rest is right"},
      {"first_token", rope, [](const Value& v) { return v.token == 0 ? v.x : v.y; },
       "the first token of a call is not rotated, and the rest is right"},
      {"every_8th", rope, [](const Value& v) { return v.token % 8 == 7 ? 2 * v.y : v.y; },
       "every 8th token from number 7 on is 2 times what it should be, and the rest is right"},
      {"from_64", rope, [](const Value& v) { return v.token >= 64 ? v.y + 1 : v.y; },
       "tokens from number 64 on are wrong, and the rest is right"},
      {"single", rope, [](const Value& v) { return v.tokens == 1 ? -v.y : v.y; },
       "calls of one token have the other sign, and the rest is right"},
      {"rows", rope, [](const Value& v) { return v.batch > 0 ? 0 : v.y; },
       "rows of a batch after the first come back as zeros, and the rest is right"},
      {"heads", rope, [](const Value& v) { return v.head >= 16 ? 1.5 * v.y : v.y; },
       "heads from 16 on are 1.5 times what they should be, and the rest is right"},
      {"odd_heads", rope, [](const Value& v) { return v.head % 2 == 1 ? v.y + 1 : v.y; },
       "odd heads are wrong, and the rest is right"},
      {"last_token_of_later_rows", rope,
       [](const Value& v) { return v.token == v.tokens - 1 && v.batch > 0 ? v.x : v.y; },
       "the last token of a call, in rows of a batch after the first, is not rotated, and the rest is right"},
      {"position_0", rope, [](const Value& v) { return v.position == 0 ? 0 : v.y; },
       "position 0 comes back as zeros, and the rest is right"},
      {"far_positions", rope, [](const Value& v) { return v.position >= 5001 ? v.y + 1 : v.y; },
       "positions from 5001 on are wrong, and the rest is right"},
      {"great_values", rope, [](const Value& v) { return std::fabs(v.x) > 100 ? v.x : v.y; },
       "vectors whose greatest value is"},
      {"pair", rope, [](const Value& v) { return v.channel % 16 == 5 ? 1.01 * v.y : v.y; },
       "pair 5 (channels 5 and 21) is 1.01 times what it should be, and the rest is right"},
      {"cosine_of_a_pair", rope,
       [](const Value& v) {
         const double c = std::cos(static_cast<double>(v.position) * std::pow(10000.0, -5.0 / 16));
         return v.channel % 16 == 5 ? v.y + 0.001 * c * v.x : v.y;
       },
       "pair 5 (channels 5 and 21) is wrong, and the rest is right"},
      {"high_pairs", rope, [](const Value& v) { return v.channel % 16 >= 8 ? v.y + 1 : v.y; },
       "pairs from 8 on are wrong, and the rest is right"},
      {"second_members", rope, [](const Value& v) { return v.channel >= 16 ? 1.01 * v.y : v.y; },
       "the second members of pairs are 1.01 times what they should be, and the rest is right"},
      {"pair_of_a_head", rope, [](const Value& v) { return v.head == 1 && v.channel % 16 == 5 ? v.y + 1 : v.y; },
       "head 1: pair 5 (channels 5 and 21) is wrong, and the rest is right"},
      {"untouched", partial, [](const Value& v) { return v.channel >= 16 ? 0 : v.y; },
       "channels that are not rotated come back as zeros, and the rest is right"},
      {"scaled", rope, [](const Value& v) { return 1.5 * v.y; }, "all values are 1.5 times what they should be"},
      {"halved", rope, [](const Value& v) { return v.y / 2; }, "all values are 0.5 times what they should be"},
      {"tail", table, [](const Value& v) { return v.token >= v.tokens - v.tokens % 4 ? 0 : v.y; },
       "tokens after the last whole 4 of a call come back as zeros, and the rest is right"},
      {"odd_channels", table, [](const Value& v) { return v.channel % 2 == 1 ? v.y + 1 : v.y; },
       "odd channels are wrong, and the rest is right"},
      {"last_channel", table, [](const Value& v) { return v.channel == 31 ? 0.5 : v.y; },
       "the last channel is wrong, and the rest is right"},
      {"odd_and_far", rope, [](const Value& v) { return v.position > 2048 && v.position % 3 == 1 ? v.y + 1 : v.y; },
       "positions from 2050 on (right up to 2035), at every 3rd position from number 1 on, are wrong, and the rest is "
       "right"},
      // Places that no words name.
      {"some_positions", rope, [](const Value& v) { return v.position * 7919 % 101 < 40 ? v.y + 1 : v.y; }, "nothing"},
      {"some_channels_zero", table, [](const Value& v) { return v.channel * 7 % 11 < 5 ? 0 : v.y; }, "nothing"},
      {"right", rope, [](const Value& v) { return v.y; }, "nothing"},
  };
  return list;
}

class WrongPlaces : public testing::TestWithParam<Misplaced> {};

TEST_P(WrongPlaces, AreNamed) {
  const Misplaced& row = GetParam();
  const std::string words = said(row.changed, row.claim);
  EXPECT_EQ(words.substr(0, row.words.size()), row.words) << words;
}

std::string name_of_row(const testing::TestParamInfo<Misplaced>& told) { return told.param.name; }

INSTANTIATE_TEST_SUITE_P(Places, WrongPlaces, testing::ValuesIn(misplaced()), name_of_row);

// One call among many that only an audit finds.
TEST(WrongPlacesOfACase, AreThoseOfItsExtents) {
  const auto right = builtin_subject();
  const Changed changed = [](const Value& v) { return v.tokens == 257 && v.token == 256 ? v.x : v.y; };
  const auto place =
      wrong_places(subject_of(changed), parse_spec(rope),
                   {.proposer = right.get(), .failing = {"accuracy:position=1,tokens=257,batch=1,heads=1,fill=1"}});
  ASSERT_TRUE(place);
  EXPECT_EQ(place->words,
            "token 256 of a call, where it is the last of its call, is not rotated, and the rest is right");
}

TEST(WrongPlacesOfACase, AreItsPosition) {
  const auto right = builtin_subject();
  const Changed changed = [](const Value& v) { return v.position == 8191 ? 2 * v.y : v.y; };
  const auto place =
      wrong_places(subject_of(changed), parse_spec(rope),
                   {.proposer = right.get(), .failing = {"accuracy:position=8190,tokens=4,batch=1,heads=1,fill=1"}});
  ASSERT_TRUE(place);
  EXPECT_EQ(place->words, "position 8191 is 2 times what it should be, and the rest is right");
}

TEST(WrongPlacesInADiagnosis, AreSaidWhereNothingElseIs) {
  const auto right = builtin_subject();
  const Changed changed = [](const Value& v) { return v.head >= 16 ? 1.5 * v.y : v.y; };
  const auto diagnosis = diagnose(subject_of(changed), parse_spec(rope), {.proposer = right.get()});
  ASSERT_TRUE(diagnosis);
  EXPECT_EQ(words_of(*diagnosis), "heads from 16 on are 1.5 times what they should be, and the rest is right");
}

}  // namespace
}  // namespace sextant::identify::identify_wrong_places_test
