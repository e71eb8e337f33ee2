#include "reference/attention.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "reference/decimal.hpp"

namespace sextant::reference::attention_test {
namespace {

constexpr Precision precision{128};

Attention with(std::int64_t head_dim, bool causal) {
  Attention encoding;
  encoding.num_heads = 1;
  encoding.num_kv_heads = 1;
  encoding.head_dim = head_dim;
  encoding.causal = causal;
  return encoding;
}

RealVector reals(std::initializer_list<double> values, Precision at = precision) {
  RealVector vector;
  for (const double value : values) vector.emplace_back(value, at);
  return vector;
}

struct Sequence {
  RealVector query;
  std::vector<RealVector> keys;
  std::vector<RealVector> values;
  RealVector bias;

  AttentionRow seeing(const KeyRange& seen) const { return {seen, query, keys, values, bias, {}}; }
  AttentionRow row(const Attention& encoding, std::int64_t index) const {
    return seeing(keys_seen(encoding, index, {0, std::ssize(keys)}));
  }
};

Sequence example(Precision at) {
  return {reals({0.5, -1.25, 2.0}, at),
          {reals({1.0, 0.25, -0.5}, at), reals({-0.75, 2.0, 1.5}, at), reals({0.125, -3.0, 4.0}, at),
           reals({2.5, 1.0, 0.0}, at)},
          {reals({1.0, -2.0, 0.5}, at), reals({0.25, 3.0, -1.0}, at), reals({4.0, 0.125, 2.0}, at),
           reals({-1.5, 1.0, 8.0}, at)},
          {}};
}

// Computed apart from this code, by mpmath 1.3 at 400 bits.
TEST(AttentionReference, AgreesWithAnIndependentComputation) {
  Sequence sequence = example(Precision{256});
  const auto expect = [&](const Attention& encoding, std::int64_t row, const std::vector<const char*>& decimals) {
    const RealVector out = attend(encoding, sequence.row(encoding, row), Precision{256});
    for (std::size_t i = 0; i < out.size(); ++i) EXPECT_TRUE(agrees_with(out[i], decimals[i])) << i;
  };
  expect(with(3, false), 1,
         {"3.98758235819919432066931031392", "0.127869270942428959232845099044", "2.00199984779148835068135299933"});
  expect(with(3, true), 3,
         {"3.98758235819919432066931031392", "0.127869270942428959232845099044", "2.00199984779148835068135299933"});
  expect(with(3, true), 1,
         {"0.525919867069522867255008631103", "1.16053421953651421829994245932", "-0.448160265860954265489982737795"});
  sequence.bias = reals({0.0, -0.5, -1.0, -1.5}, Precision{256});
  expect(with(3, false), 1,
         {"3.98360606877409494634678427797", "0.127186942569114197642459649553", "1.99540461878790652773778141386"});
  expect(with(3, true), 1,
         {"0.617263745784154815573041934604", "0.551575028105634562846387102641", "-0.265472508431690368853916130792"});
}

// Likewise.
TEST(AttentionReference, AgreesWithAnIndependentComputationOfWhatElseModelsHave) {
  const Sequence sequence = example(Precision{256});
  const auto expect = [&](const Attention& encoding, const KeyRange& seen, std::optional<double> sink,
                          const std::vector<const char*>& decimals) {
    AttentionRow row = sequence.seeing(seen);
    row.sink = sink;
    const RealVector out = attend(encoding, row, Precision{256});
    for (std::size_t i = 0; i < out.size(); ++i) EXPECT_TRUE(agrees_with(out[i], decimals[i])) << i;
  };
  Attention scaled = with(3, false);
  scaled.softmax_scale = 0.25;
  expect(scaled, {0, 4}, {},
         {"3.46317152517430433056445316157", "0.220708147340538988741512975484", "2.07633916748085170823309965291"});
  Attention capped = with(3, false);
  capped.logit_softcap = 1.5;
  expect(capped, {0, 4}, {},
         {"2.40956024392983329383881448096", "0.488841378009899251088316307907", "2.253610357073505355847461975"});
  Attention with_sink = with(3, false);
  with_sink.sinks = true;
  expect(with_sink, {0, 4}, 2.5,
         {"3.93539333638720192485806885782", "0.12619573254977950738562310595", "1.97579790276854466071484824498"});
  Attention narrow = with(3, true);
  narrow.window = 2;
  EXPECT_EQ(keys_seen(narrow, 2, {0, 4}), (KeyRange{1, 3}));
  expect(narrow, {1, 3}, {},
         {"3.99560460652311444724492307311", "0.128369801665612257112225643952", "1.99648368521849155779593845849"});
  scaled.logit_softcap = 1.5;
  scaled.sinks = true;
  expect(scaled, {1, 4}, -0.5,
         {"2.2831120142796798489442393663", "0.673092206718786412980488534264", "2.24624525252388453603401741194"});
}

// 1 + ln(k)/10 by the digits of ln 2, ln 3 and ln 10.
TEST(AttentionReference, QueriesAreScaledFromTheBordersOn) {
  const QueryScale llama{.amount = 0.125, .period = 8192, .offset = 1};
  for (const auto& [position, decimal] : {std::pair<std::int64_t, const char*>{-1, "1"},
                                          {0, "1"},
                                          {8190, "1"},
                                          {8191, "1.08664339756999316367715401518"},
                                          {16382, "1.08664339756999316367715401518"},
                                          {16383, "1.13732653608351371142440565462"},
                                          {73726, "1.27465307216702742284881130923"},
                                          {73727, "1.28782313662425571050224893184"}})
    EXPECT_TRUE(agrees_with(query_scale(llama, position, Precision{256}), decimal)) << position;
  EXPECT_EQ(query_scale({.amount = 0.5, .period = 4, .offset = 0}, 3, precision).upper(), 1);
  EXPECT_GT(query_scale({.amount = 0.5, .period = 4, .offset = 0}, 4, precision).lower(), 1.3);
  EXPECT_THROW(query_scale(llama, -2, precision), std::invalid_argument);
  // Of Qwen's, by mpmath at 400 bits: ln n / ln length.
  const auto of_length = [](std::int64_t length) {
    return QueryScale{.offset = 1, .rule = QueryScaleRule::log_n, .length = length};
  };
  for (const std::int64_t position : {-1, 0, 7000, 8191}) {
    const Enclosure scale = query_scale(of_length(8192), position, precision);
    EXPECT_TRUE(scale.lower() == 1 && scale.upper() == 1) << position;
  }
  EXPECT_TRUE(agrees_with(query_scale(of_length(8192), 8192, Precision{256}), "1.0000135461143417312334510577651"));
  EXPECT_TRUE(agrees_with(query_scale(of_length(8192), 19999, Precision{256}), "1.0990547984268807224216367475352"));
  EXPECT_TRUE(agrees_with(query_scale(of_length(2048), 32766, Precision{256}), "1.3636323610699598384355449273526"));
}

TEST(AttentionReference, OverlapsItselfAtAHigherPrecision) {
  const RealVector coarse = attend(with(3, false), example(precision).row(with(3, false), 0), precision);
  const RealVector fine = attend(with(3, false), example(Precision{512}).row(with(3, false), 0), Precision{512});
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_TRUE(overlap(coarse[i], fine[i]));
    EXPECT_LT((coarse[i] - fine[i]).upper(), 0x1p-100);
  }
}

TEST(AttentionReference, WeightsSumToOne) {
  Sequence sequence = example(precision);
  Enclosure sum(std::int64_t{0}, precision);
  for (const Enclosure& weight : attention_weights(with(3, false), sequence.row(with(3, false), 0), precision))
    sum = sum + weight;
  EXPECT_TRUE(holds(sum, 1));
  for (RealVector& value : sequence.values) value = reals({1, 1, 1});
  for (const Enclosure& element : attend(with(3, false), sequence.row(with(3, false), 0), precision)) {
    EXPECT_TRUE(holds(element, 1));
    EXPECT_LT((element - Enclosure(1.0, precision)).upper(), 0x1p-110);
  }
}

TEST(AttentionReference, EqualKeysGiveTheMeanOfTheValues) {
  Sequence sequence = example(precision);
  for (RealVector& key : sequence.keys) key = reals({0.3, -0.7, 11});
  const RealVector out = attend(with(3, false), sequence.row(with(3, false), 0), precision);
  EXPECT_TRUE(holds(out[0], (1.0 + 0.25 + 4.0 - 1.5) / 4));
  EXPECT_TRUE(holds(out[1], (-2.0 + 3.0 + 0.125 + 1.0) / 4));
  EXPECT_TRUE(holds(out[2], (0.5 - 1.0 + 2.0 + 8.0) / 4));
  EXPECT_LT((out[2] - Enclosure(2.375, precision)).upper(), 0x1p-100);
}

TEST(AttentionReference, TheFirstCausalRowIsTheFirstValue) {
  const RealVector out = attend(with(3, true), example(precision).row(with(3, true), 0), precision);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_TRUE(holds(out[i], example(precision).values[0][i].lower()));
}

TEST(AttentionReference, ScoresFarBeyondExpAreNoTrouble) {
  Sequence sequence{reals({1e300}), {reals({-1}), reals({1}), reals({1})}, {reals({5}), reals({2}), reals({4})}, {}};
  const RealVector out = attend(with(1, false), sequence.row(with(1, false), 0), precision);
  EXPECT_TRUE(holds(out[0], 3));
  EXPECT_LT((out[0] - Enclosure(3.0, precision)).upper(), 0x1p-100);
}

TEST(AttentionReference, RefusesOtherExtents) {
  Sequence sequence = example(precision);
  EXPECT_THROW(attend(with(2, false), sequence.row(with(2, false), 0), precision), std::invalid_argument);
  EXPECT_THROW(attend(with(3, false), sequence.seeing({0, 5}), precision), std::invalid_argument);
  sequence.bias = reals({0, 0});
  EXPECT_THROW(attend(with(3, false), sequence.row(with(3, false), 0), precision), std::invalid_argument);
  sequence.bias.clear();
  sequence.values.pop_back();
  EXPECT_THROW(attend(with(3, false), sequence.row(with(3, false), 0), precision), std::invalid_argument);
}

}  // namespace
}  // namespace sextant::reference::attention_test
