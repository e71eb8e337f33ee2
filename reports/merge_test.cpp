#include "reports/merge.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "properties/verdict/tally.hpp"
#include "reports/json.hpp"
#include "reports/read_json.hpp"
#include "reports/sample_test.hpp"

namespace sextant::merge_test {
namespace {

// The sample as an engine would have found it: no simplest counterexample is worse than the worst.
Report run() {
  Report report = sample();
  for (PropertyResult& result : report.results) {
    if (result.worst && result.simplest) std::swap(result.worst->deviation, result.simplest->deviation);
    if (result.worst) result.worst->deviation.of_bound = std::numeric_limits<double>::infinity();
  }
  return report;
}

// What the cases of the sample's result came to, in the shard of `index` of `count`.
Tally share_of(const PropertyResult& result, int index, int count) {
  Tally tally;
  tally.judged = result.cases / count + (index <= result.cases % count ? 1 : 0);
  if (result.coverage && index == 1) tally.coverage = result.coverage;
  if (result.coverage && index != 1) tally.coverage = Coverage{.claimed = result.coverage->claimed};
  tally.horizon = result.horizon;
  const bool is_violated = result.simplest && result.worst;
  if (result.worst) {
    tally.worst = WorstCase{.number = index,
                            .is_violated = is_violated,
                            .of_bound = result.worst->deviation.of_bound,
                            .example = *result.worst};
    if (index != 1) tally.worst->example.token = "from another shard";
  }
  if (is_violated) tally.counterexample = Counterexample{100 - index, 7 + index, *result.simplest};
  if (is_violated && index != 1) tally.counterexample->example.token = "from another shard";
  if (result.verdict == Verdict::crashed)
    tally.failure = FailedCase{index, result.cases, result.verdict, result.reason, *result.simplest};
  return tally;
}

// The sample as `count` shards would report it. What no cases were asked for stands in each as it is.
std::vector<Report> shards_of(const Report& whole, int count) {
  std::vector<Report> shards;
  for (int index = 1; index <= count; ++index) {
    Report shard = whole;
    shard.shard = Shard{index, count};
    for (PropertyResult& result : shard.results) {
      if (result.worst || result.verdict == Verdict::crashed)
        result.share = std::make_shared<const Tally>(share_of(result, index, count));
      result.seconds /= count;
    }
    if (index != 1) shard.survey.reset();
    shard.seconds = whole.seconds / count;
    shards.push_back(std::move(shard));
  }
  return shards;
}

std::string refusal(const std::vector<Report>& shards) {
  try {
    merge(shards);
  } catch (const MergeError& error) {
    return error.what();
  }
  return "merged";
}

TEST(Merge, GivesTheReportOfTheWholeRun) {
  for (const int count : {1, 2, 4, 16}) {
    std::vector<Report> shards = shards_of(run(), count);
    std::reverse(shards.begin(), shards.end());
    for (Report& shard : shards) shard = read_json(write_json(shard));
    EXPECT_EQ(write_json(merge(shards)), write_json(run())) << count;
  }
}

TEST(Merge, RefusesWhatDoesNotBelongTogether) {
  EXPECT_EQ(refusal({}), "no shard given");
  EXPECT_EQ(refusal({run()}), "the report of python:modèles/<rope> & co.py is of a whole run, not of a shard");
  std::vector<Report> shards = shards_of(run(), 3);
  EXPECT_EQ(refusal({shards[0], shards[2]}), "shard 2/3 is missing");
  EXPECT_EQ(refusal({shards[0], shards[1], shards[1]}), "shard 2/3 is given twice");
  shards[1].seed = 2;
  EXPECT_EQ(refusal(shards), "shards of different seeds: 18446744073709551615 and 2");
  shards = shards_of(run(), 2);
  shards[1].sextant_version = "9";
  EXPECT_EQ(refusal(shards), "shards of different versions of Sextant: 0.0.0 and 9");
  shards = shards_of(run(), 2);
  shards[1].strictness = Strictness::strict;
  EXPECT_EQ(refusal(shards), "shards of different strictness: lenient and strict");
  shards = shards_of(run(), 2);
  shards[1].missing = {"eta"};
  EXPECT_EQ(refusal(shards), "shard 2/2 was cut short");
  shards = shards_of(run(), 2);
  shards[0].shard->count = 3;
  EXPECT_EQ(refusal(shards), "shards of different counts: 3 and 2");
  shards = shards_of(run(), 2);
  shards[1].results.pop_back();
  EXPECT_EQ(refusal(shards), "shards of different properties (--only, --skip)");
}

}  // namespace
}  // namespace sextant::merge_test
