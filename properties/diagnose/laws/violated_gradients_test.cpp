#include "properties/diagnose/laws/violated_gradients.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>

#include "properties/catalogue.hpp"
#include "properties/engine/engine.hpp"
#include "properties/mutants/mutant.hpp"
#include "subjects/builtin.hpp"

namespace sextant::identify::violated_gradients_test {
namespace {

std::string told_of(const Subject& subject, const Spec& spec, const char* id) {
  const auto proposer = builtin_subject();
  Clues clues{.proposer = proposer.get()};
  // Cases that fail are looked at for rotations alone.
  if (std::string_view(id) == "rotation_gradient")
    clues.violated = audit({*property_named(id)}, subject, spec, {}).results;
  else
    clues.violated.emplace_back().id = id;
  const auto difference = violated_gradients(subject, spec, clues);
  return difference ? difference->words : "";
}

Spec spec_of(const std::string& mutant) { return parse_spec(mutants::named(mutant).spec); }

void expect_told(const std::map<std::string, std::string>& words_of, const char* id) {
  for (const auto& [name, words] : words_of) EXPECT_EQ(told_of(*mutants::open(name), spec_of(name), id), words) << name;
}

TEST(ViolatedGradients, OfRotationsAreToldByWhatIsTurnedAndWhere) {
  expect_told(
      {{"rope-gradient-zero", "the gradient is zero"},
       {"rope-gradient-unscaled", "the gradient does not know the scaling rule"},
       {"rope-gradient-not-conjugated", "the gradient is rotated forward, not back"},
       {"rope-gradient-without-factor", "the gradient lacks the attention factor"},
       {"rope-gradient-sine-outside",
        "in the gradient of each pair's second channel the sine has the wrong "
        "sign"},
       {"rope-gradient-heads-from-64", "in the gradient, heads from 64 on come back as zeros, and the rest is right"},
       {"rope-gradient-row-20",
        "in the gradient, rows of a batch from 20 on come back as zeros, and the rest is right"},
       {"rope-gradient-token-1500",
        "in the gradient, the last token of a call, in tokens from number 1499 on, comes back as zeros, and the rest "
        "is right"},
       {"rope-gradient-position",
        "in the gradient, position 7777 has one position less than its own, and the rest is right"}},
      "rotation_gradient");
}

TEST(ViolatedGradients, OfTablesAreToldByTheUsesThatAddNothing) {
  expect_told(
      {{"t5-gradient-overwritten", "a bucket's gradient is that of its last use, not the sum over all"},
       {"t5-gradient-256-keys", "keys from index 256 of a call on add nothing to the weight's gradient"},
       {"t5-gradient-1024-keys", "keys from index 1024 of a call on add nothing to the weight's gradient"},
       {"t5-gradient-mirrored", "the backward pass takes query minus key, not key minus query"},
       {"t5-gradient-of-self-zero",
        "where queries and keys are the same tokens the weight's gradient is zero, from 4 tokens on and up to 999 "
        "tokens"},
       {"learned-gradient-last-row", "the table's last row has no gradient, and the rest is right"},
       {"learned-gradient-1000-uses", "uses of one row beyond 1000 add nothing to its gradient"}},
      "scatter_gradient");
}

TEST(ViolatedGradients, OfAttentionAreToldByTheStepThatIsWrong) {
  expect_told({{"attention-gradient-no-mean", "the gradient of scores lacks the mean that softmax takes off"},
               {"attention-gradient-scale", "keys' gradients are scaled twice"},
               {"attention-gradient-group",
                "of a group's heads the last one's gradient by keys and values is kept, not their sum"},
               {"attention-gradient-mask", "the backward pass forgets the causal mask"},
               {"attention-gradient-not-turned", "gradients of turned queries and keys are not turned back"},
               {"attention-gradient-32-queries",
                "queries from index 32 of a call on add nothing to keys' and values' gradients"},
               {"attention-gradient-256-queries",
                "queries from index 256 of a call on add nothing to keys' and values' gradients"}},
              "attention_gradient");
}

TEST(ViolatedGradients, OfRightOnesNothingIsSaid) {
  const auto subject = builtin_subject();
  EXPECT_EQ(
      told_of(*subject, parse_spec(R"({"encoding":"rope","head_dim":16,"max_position":512})"), "rotation_gradient"),
      "");
  EXPECT_EQ(told_of(*subject, parse_spec(R"({"encoding":"relative_bias","max_position":512})"), "scatter_gradient"),
            "");
  EXPECT_EQ(told_of(*subject, parse_spec(R"({"encoding":"learned","dim":8,"max_positions":50})"), "scatter_gradient"),
            "");
  EXPECT_EQ(told_of(*subject,
                    parse_spec(R"({"encoding":"attention","num_heads":4,"num_kv_heads":2,"head_dim":16,"causal":true,)"
                               R"("max_position":512,"position":{"encoding":"rope","head_dim":16}})"),
                    "attention_gradient"),
            "");
}

}  // namespace
}  // namespace sextant::identify::violated_gradients_test
