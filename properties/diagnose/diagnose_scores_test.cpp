// What is said of attention whose scores, masks or rows differ in one thing, each of a mutant.

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lib/spec/of.hpp"
#include "properties/diagnose/diagnose.hpp"
#include "properties/identify/identify.hpp"
#include "properties/mutants/mutant.hpp"
#include "properties/verdict/diagnosis.hpp"
#include "subjects/builtin.hpp"
#include "subjects/function.hpp"

namespace sextant::identify::identify_diagnose_scores_test {
namespace {

struct Told {
  std::string mutant;
  std::string words;
  std::vector<std::string> failing = {};  // cases of accuracy
};

std::string said(const Told& told) {
  const auto right = builtin_subject();
  const auto diagnosis = diagnose(*mutants::open(told.mutant), parse_spec(mutants::named(told.mutant).spec),
                                  {.proposer = right.get(), .failing = told.failing});
  return diagnosis ? words_of(*diagnosis) : "nothing";
}

class DiagnosedScores : public testing::TestWithParam<Told> {};

TEST_P(DiagnosedScores, AreNamed) { EXPECT_EQ(said(GetParam()), GetParam().words); }

const std::vector<Told>& of_scores() {
  static const std::vector<Told> list{
      {"attention-position-unasked", "scores rise by 0.125 from key to key, where the claim adds nothing to them"},
      {"attention-none-distance", "scores rise by 0.01 from key to key, where the claim adds nothing to them"},
      {"attention-window-dropped", "the bias is left out"},
      {"attention-longrope-length-of-last-row", "all batch rows take the last one's length"},
      {"attention-window-whole-unbiased", "the bias is left out, in calls of 49 tokens and not in those of 12"},
      {"attend-factor-left-out-bfloat16", "the attention factor is left out"},
      {"attend-not-normalised", "weights are divided by the number of keys, not by their sum"},
      {"attend-not-rescaled", "of 165 tokens scores of keys from 64 on are 1 too high beside the other keys'"},
      {"attend-not-rescaled-bfloat16", "of 165 tokens scores of keys from 64 on are 1 too high beside the other keys'"},
      {"attention-alibi-tile",
       "of 165 tokens scores of keys 64 to 127 before the query are 8 too low beside the other keys'"},
      {"query-scale-after-softcap",
       "scores are scaled by their query's position after the softcap, where the claim scales queries before it"},
      {"query-scale-one-for-call",
       "the scale of a query is that of its position less its number in the call: the first one's, of consecutive "
       "ones"},
      {"query-scale-by-index", "a query's index in its sequence is taken for its position in queries' scales"},
      {"attention-mask-is-score",
       "masked scores are -10000, not minus infinity: where a query's own are lower, masked keys have weights"},
      {"attention-alibi-mask-is-score",
       "masked scores are -10000, not minus infinity: where a query's own are lower, masked keys have weights"},
      {"attention-alibi-first-head-far", "in head 0 biases of keys more than 512 before the query are doubled"},
      {"attention-far-positions", "in head 3 biases of keys more than 60000 before the query are those of 60000"},
      {"attention-axial-portraits-swapped",
       "rows and columns change places where an image has more rows than columns (one that begins at 0, of more than "
       "one row and column)"},
      {"attention-axial-grid-of-first-row",
       "all rows of a batch of images have the places of the first one's image (one that begins at 0)"},
      {"attention-values-clipped", "results are limited to 65504"},
      {"attention-blank-query", "queries of zeros come back as zeros, and the rest is right"},
      {"attention-later-row-heads",
       "head 3 of 4 in batch row 1 of 2 has the values of the head before it, and the rest is right"},
      {"attention-channel-tail", "channels 6, 7 of tokens 4 to 11 of 12 come back as zeros, and the rest is right"},
      {"attention-query-tail", "tokens 160 to 164 of 165 come back as zeros, and the rest is right"},
      {"attention-queries-from-128",
       "tokens 128 to 164 of 165 have the values of the tokens 128 before them, and the rest is right"},
      {"attention-20-rows",
       "batch row 19 of 20 has the values of batch row 0, and the rest is right; calls of 19 and 21 batch rows are "
       "right",
       {"accuracy:position=0,tokens=3,batch=20,heads=1,fill=1"}},
      {"attention-one-tile", "of 165 tokens queries 64 to 127 do not see keys from 128 on"},
      {"attention-diagonal-tile", "of 165 tokens queries from 32 on do not see their own keys"},
      {"attention-head-after-256",
       "head 1 of 12 has the values of the head before it, and the rest is right; calls of 130 tokens are right"},
      {"attention-one-pair",
       "token 259 of 260 in head 3 of 4 does not see key 0, and the rest is right; calls of 130 tokens are right"},
      {"attention-least-score", "scores below -50 are -50"},
      {"attend-groups-of-7",
       "query head h reads the keys and values of key head floor((h + 1) / 7), at most 1, where the claim has "
       "floor(h / 7)"},
      {"decode-alibi-from-top-bfloat16", "distances of a step count from the first key, either way"},
      {"decode-chunk-at-once",
       "queries of a step stand further on by the queries that come after them: where the last does, of consecutive "
       "ones"},
      {"decode-unused-end",
       "in a step queries' indices are counted back from the cache's end, not from their row's, so that they see each "
       "other"},
      {"attention-window-of-3000", "keys 3001 and more before a query are not seen, where the claim has no window"},
  };
  return list;
}

std::string name_of_told(const testing::TestParamInfo<Told>& told) {
  std::string name = told.param.mutant;
  std::ranges::replace(name, '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Scores, DiagnosedScores, testing::ValuesIn(of_scores()), name_of_told);

// Asked under a claim whose queries are as they come.
TEST(IdentifiedQueryScales, AreFoundUnclaimed) {
  const auto builtin = builtin_subject();
  for (const char* scale : {R"({"amount":0.1,"period":8192,"offset":1})", R"({"amount":0.1,"period":16384,"offset":0})",
                            R"({"rule":"log_n","length":8192,"offset":1})"}) {
    for (const char* position : {"", R"("position":{"encoding":"rope","head_dim":16},)"}) {
      const std::string rest = std::string(position) + R"("max_position":131072})";
      const std::string usual = R"({"encoding":"attention","num_heads":2,"head_dim":16,"causal":true,)";
      const Spec claim = parse_spec(usual + R"("query_scale":)" + scale + "," + rest);
      const FunctionSubject subject("fixed", [&](const Spec&) -> FunctionSubject::Call {
        std::shared_ptr<Session> session = builtin->open(claim);
        return
            [session](std::string_view operation, const Tensors& inputs) { return session->call(operation, inputs); };
      });
      const Identification found = identify(subject, parse_spec(usual + rest));
      ASSERT_TRUE(found.spec) << scale << position;
      EXPECT_EQ(to_json(*found.spec), to_json(claim));
      EXPECT_EQ(found.confidence, Confidence::high) << scale << position;
    }
  }
}

}  // namespace
}  // namespace sextant::identify::identify_diagnose_scores_test
