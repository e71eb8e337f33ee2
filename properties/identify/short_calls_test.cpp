#include "properties/identify/short_calls.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "properties/identify/identify.hpp"
#include "subjects/builtin.hpp"
#include "subjects/function.hpp"

namespace sextant::identify::identify_short_calls_test {
namespace {

constexpr const char* rope = R"({"encoding":"rope","head_dim":64})";

// Positions of a call, [batch, tokens], changed before a right answer.
using Change = std::function<void(std::vector<std::int64_t>& positions, std::int64_t tokens)>;

FunctionSubject changed(const Change& change) {
  return FunctionSubject("changed", [change](const Spec& spec) -> FunctionSubject::Call {
    const std::shared_ptr<Session> right = builtin_subject()->open(spec);
    return [right, change](std::string_view operation, const Tensors& inputs) {
      Tensors others = inputs;
      Tensor& positions = others.at("positions");
      std::vector<std::int64_t> list = positions.integers();
      change(list, positions.shape.back());
      positions = Tensor::of_integers(positions.shape, list);
      return right->call(operation, others);
    };
  });
}

void twice_among_several(std::vector<std::int64_t>& positions, std::int64_t tokens) {
  if (tokens == 1) return;
  for (std::int64_t& position : positions) position *= 2;
}

void clamped(std::vector<std::int64_t>& positions, std::int64_t) {
  for (std::int64_t& position : positions) position = std::min<std::int64_t>(position, 300);
}

Identification held(const Change& change, const Identification& found) {
  Identification one = found;
  hold_to_short_calls(changed(change), parse_spec(rope), one);
  return one;
}

Identification found_with(Fault fault) {
  Identification found;
  found.faults.push_back(std::move(fault));
  return found;
}

TEST(ShortCalls, AreAnsweredAsClaimedOrNot) {
  EXPECT_TRUE(ShortCalls(changed(twice_among_several), parse_spec(rope)).are_single_tokens_right());
  EXPECT_FALSE(ShortCalls(changed(twice_among_several), parse_spec(rope)).is_early_call_right());
  EXPECT_FALSE(ShortCalls(changed(clamped), parse_spec(rope)).are_single_tokens_right());
}

TEST(ShortCalls, RefuteWhatIsSaidOfEveryCall) {
  const Identification found = held(
      twice_among_several, found_with({"every frequency is 2 times the one asked for", DiagnosedStage::frequency}));
  ASSERT_EQ(found.faults.size(), 1U);
  EXPECT_EQ(found.faults.front().words,
            "tokens in calls of their own that were asked are right, and some in others are not");
  EXPECT_EQ(found.faults.front().kind, FaultKind::remainder);
  EXPECT_EQ(found.confidence, Confidence::low);
  EXPECT_EQ(to_json(found.spec.value()), to_json(parse_spec(rope)));
}

TEST(ShortCalls, KeepWhatTheyShowAndWhatNamesCalls) {
  const Fault of_calls("in a call of several tokens positions are doubled", DiagnosedStage::position);
  EXPECT_EQ(held(twice_among_several, found_with(of_calls)).faults.front().words, of_calls.words);
  const Fault of_all("positions above 300 are clamped to it", DiagnosedStage::position);
  EXPECT_EQ(held(clamped, found_with(of_all)).faults.front().words, of_all.words);
  // Of values that drawn ones need not have.
  const Fault of_values("infinities come back as other numbers");
  EXPECT_EQ(held(twice_among_several, found_with(of_values)).faults.front().words, of_values.words);
}

// A sentence of one position is asked there.
TEST(ShortCalls, AreAskedWhereTheWordsAre) {
  const auto at_77 = [](std::vector<std::int64_t>& positions, std::int64_t) {
    for (std::int64_t& position : positions) position = position == 77 ? 78 : position;
  };
  const Fault of_one("position 77 is turned as 78", DiagnosedStage::position);
  EXPECT_EQ(held(at_77, found_with(of_one)).faults.front().words, of_one.words);
}

TEST(ShortCalls, RefuteFields) {
  Identification found;
  found.spec = parse_spec(R"({"encoding":"rope","head_dim":64,"pairing":"interleaved"})");
  found.confidence = Confidence::high;
  const Identification refuted = held(twice_among_several, found);
  EXPECT_EQ(to_json(refuted.spec.value()), to_json(parse_spec(rope)));
  EXPECT_EQ(refuted.confidence, Confidence::low);
  ASSERT_EQ(refuted.faults.size(), 1U);
  EXPECT_EQ(refuted.faults.front().kind, FaultKind::remainder);
}

// Whatever way positions are made anew in calls of several tokens.
TEST(ShortCalls, LeaveNoSentenceOfEveryCallWhereOneTokenIsRight) {
  const auto each_row = [](auto made) -> Change {
    return [made](std::vector<std::int64_t>& positions, std::int64_t tokens) {
      if (tokens == 1) return;
      for (auto row = positions.begin(); row != positions.end(); row += tokens) {
        const std::vector<std::int64_t> own(row, row + tokens);
        for (std::int64_t t = 0; t < tokens; ++t) row[t] = made(own, t);
      }
    };
  };
  const std::vector<Change> changes{
      each_row([](const std::vector<std::int64_t>& own, std::int64_t t) {
        const auto n = std::ssize(own);
        return own.back() - (n - 1 - t) * (own.back() - own[static_cast<std::size_t>(n - 2)]);
      }),
      each_row(
          [](const std::vector<std::int64_t>& own, std::int64_t t) { return own[static_cast<std::size_t>(t)] * 3; }),
      each_row([](const std::vector<std::int64_t>& own, std::int64_t t) { return own.front() * (t + 1); }),
      each_row([](const std::vector<std::int64_t>& own, std::int64_t t) { return std::ranges::max(own) * t; })};
  for (const Change& change : changes) {
    const Identification found = identify(changed(change), parse_spec(rope));
    for (const Fault& fault : found.faults)
      EXPECT_TRUE(names_calls(fault) || fault.stage == DiagnosedStage::other) << fault.words;
    EXPECT_TRUE(!found.spec || to_json(*found.spec) == to_json(parse_spec(rope)));
    EXPECT_NE(found.confidence, Confidence::high);
  }
}

}  // namespace
}  // namespace sextant::identify::identify_short_calls_test
