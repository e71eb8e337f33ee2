#include "reports/merge.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "reports/json.hpp"
#include "reports/sample_test.hpp"

namespace sextant {
namespace {

// The sample as `count` shards would report it.
std::vector<Report> shards_of(const Report& whole, int count) {
  std::vector<Report> shards;
  for (int index = 1; index <= count; ++index) {
    Report shard = whole;
    shard.shard = Shard{index, count};
    shard.results.clear();
    for (std::size_t i = static_cast<std::size_t>(index - 1); i < whole.results.size();
         i += static_cast<std::size_t>(count))
      shard.results.push_back(whole.results[i]);
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
    std::vector<Report> shards = shards_of(sample(), count);
    std::reverse(shards.begin(), shards.end());
    EXPECT_EQ(write_json(merge(shards)), write_json(sample())) << count;
  }
}

TEST(Merge, RefusesWhatDoesNotBelongTogether) {
  EXPECT_EQ(refusal({}), "no shard given");
  EXPECT_EQ(refusal({sample()}), "the report of python:modèles/<rope> & co.py is of a whole run, not of a shard");
  std::vector<Report> shards = shards_of(sample(), 3);
  EXPECT_EQ(refusal({shards[0], shards[2]}), "shard 2/3 is missing");
  EXPECT_EQ(refusal({shards[0], shards[1], shards[1]}), "shard 2/3 is given twice");
  shards[1].seed = 2;
  EXPECT_EQ(refusal(shards), "shards of different seeds: 18446744073709551615 and 2");
  shards = shards_of(sample(), 2);
  shards[1].sextant_version = "9";
  EXPECT_EQ(refusal(shards), "shards of different versions of Sextant: 0.0.0 and 9");
  shards = shards_of(sample(), 2);
  shards[1].strictness = Strictness::strict;
  EXPECT_EQ(refusal(shards), "shards of different strictness: lenient and strict");
  shards = shards_of(sample(), 2);
  shards[1].missing = {"eta"};
  EXPECT_EQ(refusal(shards), "shard 2/2 was cut short");
  shards = shards_of(sample(), 2);
  shards[0].shard->count = 3;
  EXPECT_EQ(refusal(shards), "shards of different counts: 3 and 2");
}

}  // namespace
}  // namespace sextant
