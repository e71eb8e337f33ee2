#include "reports/compare.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "reports/baseline.hpp"
#include "reports/sample_test.hpp"

namespace sextant::compare_test {
namespace {

Report good() {
  Report report = sample();
  report.results.resize(1);
  report.exit_status = 0;
  return report;
}

constexpr CompareOptions ratchet{.drift = Drift::refused};

TEST(Compare, FindsNothingBetweenEqualReports) {
  const Comparison comparison = compare(sample(), sample());
  EXPECT_TRUE(comparison.regressions.empty());
  EXPECT_TRUE(comparison.improvements.empty());
}

// Another bug in place of the known one is no better for a smaller error.
TEST(Compare, AnotherCauseIsARegression) {
  Report other = sample();
  ASSERT_TRUE(other.diagnosis);
  other.diagnosis->differences = {{"base 500000 measured, 10000 claimed", ""}};
  const std::vector<std::string> changed{"the cause has changed: it was: " + words_of(*sample().diagnosis) +
                                         "; it is: base 500000 measured, 10000 claimed"};
  EXPECT_EQ(compare(sample(), other).regressions, changed);
  EXPECT_TRUE(compare(other, other).regressions.empty());
  // A baseline keeps the words alone.
  EXPECT_TRUE(compare(read_baseline(write_baseline(other)), other).regressions.empty());
  Report smaller = other;
  smaller.results[1].worst->deviation.of_bound = 2;
  EXPECT_EQ(compare(sample(), smaller).regressions, changed);
  EXPECT_EQ(compare(sample(), smaller).improvements.size(), 1U);
  // Where values are still wrong, and nothing is told of them.
  Report untold = other;
  untold.diagnosis.reset();
  for (Report* report : {&other, &untold}) report->results[1].id = "accuracy";
  ASSERT_EQ(compare(other, untold).regressions.size(), 1U);
  EXPECT_TRUE(compare(other, untold).regressions[0].ends_with("; it is: not known"));
  EXPECT_TRUE(compare(untold, other).regressions.empty());
}

TEST(Compare, AnotherCauseIsANoteWhereItIsToldOfOtherThings) {
  const auto told = [](const Report& older, const Report& newer) {
    const Comparison comparison = compare(older, newer, {.unjudged = Unjudged::left_out});
    EXPECT_TRUE(comparison.regressions.empty());
    return std::ranges::any_of(comparison.notes,
                               [](const std::string& note) { return note.starts_with("the cause has changed"); });
  };
  Report other = sample();
  other.diagnosis->differences = {{"base 500000 measured, 10000 claimed", ""}};
  Report of_other_cases = other;
  of_other_cases.seed = sample().seed - 1;
  EXPECT_TRUE(told(sample(), of_other_cases));
  Report of_fewer_properties = other;
  of_fewer_properties.results.pop_back();
  EXPECT_TRUE(told(sample(), of_fewer_properties));
  Report of_another_version = other;
  of_another_version.sextant_version = "0.0.1";
  EXPECT_TRUE(told(sample(), of_another_version));
  // Of two bugs one is mended.
  Report less = sample();
  ASSERT_EQ(less.diagnosis->differences.size(), 2U);
  less.diagnosis->differences.pop_back();
  EXPECT_TRUE(told(sample(), less));
  EXPECT_TRUE(told(read_baseline(write_baseline(sample())), less));
}

// One number has one text, as long as that tells it from the other.
TEST(Compare, ShowsErrorsAsReportsDo) {
  const auto line = [](double before, double after) {
    Report older = sample();
    Report newer = sample();
    older.results[1].worst->deviation.of_bound = before;
    newer.results[1].worst->deviation.of_bound = after;
    return compare(older, newer).regressions.front();
  };
  EXPECT_EQ(line(12.5, 543210), "beta: worst 543000 times the bound, was 12.5 times the bound");
  EXPECT_EQ(line(543210, 543250), "beta: worst 543300 times the bound, was 543200 times the bound");
  EXPECT_EQ(line(1.5e7, 1.6e7), "beta: worst 16000000 times the bound, was 15000000 times the bound");
  EXPECT_EQ(line(2, 3e9), "beta: worst more than a million times the bound, was 2 times the bound");
}

TEST(Compare, ARatchetThatComparesNothingWarns) {
  Report other = good();
  other.seed = good().seed - 1;
  EXPECT_TRUE(compare(good(), good(), ratchet).warnings.empty());
  EXPECT_TRUE(compare(good(), other).warnings.empty());
  const std::vector<std::string> warnings = compare(good(), other, ratchet).warnings;
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_TRUE(warnings[0].starts_with("--ratchet compares nothing here: quick, seed ")) << warnings[0];
}

TEST(Compare, CountsWhatWasLeftOutOfAllProperties) {
  const auto left_out = [](Strictness strictness) {
    Report one = sample();
    one.results.resize(1);
    one.strictness = strictness;
    return compare(sample(), one, {.unjudged = Unjudged::left_out}).notes;
  };
  const std::size_t all = sample().results.size();
  for (const Strictness strictness : {Strictness::lenient, Strictness::strict})
    EXPECT_EQ(left_out(strictness),
              std::vector<std::string>{fmt::format(
                  "not compared: {} of the baseline's {} properties, which this run left out", all - 1, all)});
}

TEST(Compare, FindsWhatWasLost) {
  Report worse = good();
  worse.results[0].verdict = Verdict::violated;
  worse.results[0].simplest = Example{"alpha:position=3", "position 3: wrong", {7, 1, 2}};
  EXPECT_EQ(compare(good(), worse).regressions,
            std::vector<std::string>{"alpha: violated, held before: position 3: wrong"});
  EXPECT_EQ(compare(worse, good()).improvements, std::vector<std::string>{"alpha: holds, was violated"});

  // Below its bound an error may grow, unless that is refused.
  Report larger = good();
  larger.results[0].worst->deviation.of_bound = 0.75;
  const std::vector<std::string> grown{"alpha: worst 0.75 of the bound, was 0.25 of the bound"};
  EXPECT_TRUE(compare(good(), larger).regressions.empty());
  EXPECT_EQ(compare(good(), larger).notes, grown);
  EXPECT_EQ(compare(good(), larger, ratchet).regressions, grown);
  larger.results[0].worst->deviation.of_bound = 0.255;
  EXPECT_TRUE(compare(good(), larger, ratchet).regressions.empty());

  Report missing = good();
  missing.results.clear();
  EXPECT_EQ(compare(good(), missing).regressions, std::vector<std::string>{"alpha: held, is no longer judged"});
  EXPECT_TRUE(compare(good(), missing, {.unjudged = Unjudged::left_out}).regressions.empty());

  Report weaker = good();
  weaker.claim = "bfloat16-angle";
  weaker.last_position = 100;
  EXPECT_EQ(compare(good(), weaker).regressions, (std::vector<std::string>{"claim: bfloat16-angle, was float32-angle",
                                                                           "claim: positions to 100, was 131071"}));

  // Of a stricter class an error is more of its bound, in code that is the same.
  Report stricter = good();
  stricter.claim = "exact-angle";
  stricter.results[0].worst->deviation.of_bound = 0.75;
  EXPECT_TRUE(compare(good(), stricter, ratchet).regressions.empty());
  EXPECT_EQ(
      compare(good(), stricter).notes,
      std::vector<std::string>{"worst errors are not compared: float32-angle and exact-angle have different bounds"});

  Report nearer = sample();
  nearer.results[1].horizon = 200;
  EXPECT_EQ(compare(sample(), nearer).regressions,
            std::vector<std::string>{"beta: holds up to position 200, was position 256"});
  EXPECT_TRUE(compare(nearer, sample()).regressions.empty());
  // Of other cases it tells nothing, unless a sweep compared every position.
  Report whole = sample();
  nearer.seed = 2;
  EXPECT_TRUE(compare(whole, nearer).regressions.empty());
  EXPECT_TRUE(compare(nearer, whole).improvements.empty());
  for (Report* report : {&whole, &nearer}) report->results[1].coverage->positions = 512;
  EXPECT_EQ(compare(whole, nearer).regressions,
            std::vector<std::string>{"beta: holds up to position 200, was position 256"});

  Report less = good();
  less.survey->measured_class = "";
  EXPECT_EQ(compare(good(), less).regressions, std::vector<std::string>{"measured class: none, was bfloat16-angle"});
}

// What a fix comes to is no regression against what wrong code came to, and nothing that a baseline holds it to.
TEST(Compare, WrongCodeSetsNoMarkForItsFix) {
  Report wrong = sample();
  wrong.results[1].verdict = Verdict::violated;
  Report mended = wrong;
  mended.results[1].verdict = Verdict::holds;
  mended.results[0].worst->deviation.of_bound = 0.75;
  EXPECT_TRUE(compare(wrong, mended, ratchet).regressions.empty());
  const Report next = tightened(wrong, mended);
  EXPECT_EQ(next.results[0].worst->deviation.of_bound, 0.75);
  EXPECT_TRUE(compare(next, mended, ratchet).regressions.empty());
  Report worse = mended;
  worse.results[0].worst->deviation.of_bound = 0.875;
  EXPECT_EQ(compare(next, worse, ratchet).regressions.size(), 1U);
}

// Where values were wrong before, another property that finds it is no news.
TEST(Compare, NothingIsLostBeyondTheHorizon) {
  Report older = sample();
  older.results[1].id = "accuracy";
  Report newer = older;
  newer.results[0].verdict = Verdict::violated;
  newer.results[0].simplest = Example{"alpha:position=300", "position 300: wrong", {7, 1, 2}};
  newer.results[0].horizon = 299;
  EXPECT_TRUE(compare(older, newer).regressions.empty());
  EXPECT_EQ(compare(older, newer).notes.size(), 1U);
  EXPECT_TRUE(
      compare(older, newer).notes[0].ends_with("; not counted, since values were wrong already from position 257 on"));
  newer.results[0].horizon = 255;
  EXPECT_EQ(compare(older, newer).regressions.size(), 1U);
  // A law that names no position held in the same cases; others may show those values. A contract rests on none.
  newer.results[0].horizon.reset();
  EXPECT_EQ(compare(older, newer).regressions.size(), 1U);
  newer.seed = older.seed + 1;
  EXPECT_TRUE(compare(older, newer).regressions.empty());
  EXPECT_TRUE(compare(older, newer).notes.back().ends_with("from position 257 on, of which it may come"));
  newer.results[0].level = Level::contract;
  EXPECT_EQ(compare(older, newer).regressions.size(), 1U);
}

// A property that other cases did not violate is not mended while values are as wrong as before.
TEST(Compare, NothingIsMendedByOtherCases) {
  Report older = sample();
  older.results[1].id = "accuracy";
  Report newer = older;
  older.results[0].verdict = Verdict::violated;
  EXPECT_EQ(compare(older, newer).improvements.size(), 1U);
  newer.seed = older.seed - 1;
  EXPECT_TRUE(compare(older, newer).improvements.empty());
}

TEST(Compare, WorstErrorsOfOtherValuesAreNotCompared) {
  Report other = good();
  other.seed = good().seed + 1;
  other.results[0].worst->deviation.of_bound = 0.75;
  const Comparison comparison = compare(good(), other);
  EXPECT_TRUE(comparison.regressions.empty());
  ASSERT_EQ(comparison.notes.size(), 1U);
  EXPECT_NE(comparison.notes[0].find("worst errors are not compared"), std::string::npos);
  EXPECT_EQ(tightened(good(), other).results[0].worst->deviation.of_bound, 0.75);
  other.results[0].verdict = Verdict::violated;
  EXPECT_EQ(compare(good(), other).regressions.size(), 1U);
}

TEST(Compare, AdviceCountsOnlyWhenStrict) {
  Report older = good();
  older.results[0].level = Level::advice;
  Report newer = older;
  newer.results[0].verdict = Verdict::violated;
  EXPECT_TRUE(compare(older, newer).regressions.empty());
  newer.strictness = Strictness::strict;
  EXPECT_EQ(compare(older, newer).regressions.size(), 1);
}

TEST(Compare, RefusesOtherSpecs) {
  Report other = good();
  other.spec_json = R"({"encoding":"rope","head_dim":128})";
  EXPECT_NE(why_incomparable(good(), other), "");
  other.spec_json = R"({"encoding":"rope","head_dim":64,"accuracy":"faithful"})";
  EXPECT_EQ(why_incomparable(good(), other), "");
}

TEST(Compare, ABaselineOnlyTightens) {
  Report larger = good();
  larger.results[0].worst->deviation.of_bound = 0.75;
  EXPECT_EQ(tightened(good(), larger).results[0].worst->deviation.of_bound, 0.25);
  EXPECT_EQ(tightened(larger, good()).results[0].worst->deviation.of_bound, 0.25);
}

}  // namespace
}  // namespace sextant::compare_test
