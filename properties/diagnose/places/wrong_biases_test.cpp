#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "properties/diagnose/diagnose.hpp"
#include "properties/mutants/mutant.hpp"
#include "subjects/builtin.hpp"
#include "subjects/function.hpp"

// What wrong biases are, and where, where calls of many shapes tell.

namespace sextant::identify::identify_wrong_biases_test {
namespace {

std::string said(const std::string& name) {
  const auto diagnosis = diagnose(*mutants::open(name), parse_spec(mutants::named(name).spec));
  return diagnosis ? words_of(*diagnosis) : std::string();
}

TEST(WrongBiases, AreToldByKeysQueriesAndHeads) {
  EXPECT_EQ(said("alibi-keys-from-64"), "biases of keys from number 64 on are 0, and the rest is right");
  EXPECT_EQ(said("t5-keys-from-64"), "biases of keys from number 64 on are 0, and the rest is right");
  EXPECT_EQ(said("t5-heads-from-16"), "biases of heads from 16 on are those of the head before, and the rest is right");
  EXPECT_EQ(said("t5-query-block"),
            "biases of queries from number 32 on are those of the query before, and the rest is right");
}

TEST(WrongBiases, AreToldByTheSizeOfCalls) {
  EXPECT_EQ(said("t5-last-head-of-odd"),
            "biases of the last head are those of the head before, in calls of an odd number of heads, and the rest is "
            "right");
  EXPECT_EQ(said("alibi-one-query-long"),
            "biases are those of key - query one less, in calls of one query and of 65 and more keys, and the rest is "
            "right");
  EXPECT_EQ(said("t5-one-query-long"), said("alibi-one-query-long"));
  EXPECT_EQ(said("t5-keys-tail-of-4"),
            "biases of keys after the last whole block of 4 are 0, in calls of 9 and more keys, and the rest is right");
  EXPECT_EQ(said("t5-queries-as-keys"),
            "biases are those of keys at the queries' positions, in calls of 16 and more queries and of as many "
            "queries as keys, and the rest is right");
}

TEST(WrongBiases, AreToldByPositionsThatAreTakenForOthers) {
  EXPECT_EQ(
      said("alibi-one-gap"),
      "biases are those of keys that follow each other one by one from the first on, in calls of 16 and more keys "
      "and whose keys rise and whose first two keys are neighbours, and the rest is right");
  EXPECT_EQ(said("alibi-beyond-clamped"), "biases are those of positions clamped to 4095");
  EXPECT_EQ(said("t5-beyond-clamped"), "biases are those of positions clamped to 4095");
  EXPECT_EQ(said("alibi-far-ahead"), "biases are those of key - query = 10000 where it is more");
}

// A causal claim does not judge keys after the query: it hides what they have.
TEST(WrongBiases, OfLaterKeysAreNoCausalMask) {
  const auto told = [](double later) {
    const FunctionSubject subject("later keys", [later](const Spec&) -> FunctionSubject::Call {
      return [later](std::string_view, const Tensors& inputs) -> Tensors {
        const std::vector<std::int64_t> queries = inputs.at("query_positions").integers();
        const std::vector<std::int64_t> keys = inputs.at("key_positions").integers();
        Tensor out = Tensor::zeros(Dtype::float32, {8, std::ssize(queries), std::ssize(keys)});
        for (std::int64_t i = 0; i < out.elements(); ++i) {
          const std::int64_t key = i % std::ssize(keys);
          const std::int64_t query = i / std::ssize(keys) % std::ssize(queries);
          const std::int64_t head = i / std::ssize(keys) / std::ssize(queries);
          const auto distance =
              static_cast<double>(queries[static_cast<std::size_t>(query)] - keys[static_cast<std::size_t>(key)]);
          out.set(i, -std::exp2(-static_cast<double>(head + 1)) * (distance < 0 ? -later * distance : distance));
        }
        return {{"bias", out}};
      };
    });
    const auto diagnosis = diagnose(subject, parse_spec(R"({"encoding":"alibi","num_heads":8,"mask":"symmetric"})"));
    return diagnosis ? words_of(*diagnosis) : std::string();
  };
  EXPECT_EQ(told(0.5), "keys after the query have 0.5 times the bias of those before it");
  EXPECT_EQ(told(0), "keys after the query have no bias");
  EXPECT_EQ(told(-1), "claims mask symmetric, computes causal");
}

TEST(WrongBiases, AreToldByChangedWeights) {
  EXPECT_EQ(said("t5-weights-clipped"), "weights beyond 65504 are clipped to it");
}

TEST(WrongBiases, OfWindowsAreToldByCalls) {
  EXPECT_EQ(said("window-whole-zero"),
            "biases are 0, in calls of as many tokens as the window has, and the rest is right");
  EXPECT_EQ(said("window-whole-shifted-zero"),
            "biases are 0, in calls of as many tokens as the window has and whose first key is a later token than the "
            "last, and the rest is right");
  EXPECT_EQ(said("window-without-class-token-zero"),
            "biases are 0, in calls of one token less than the window has, and the rest is right");
  EXPECT_EQ(said("window-of-its-height"), "the window is taken for a square of its height");
}

TEST(WrongBiases, OfSlopesAreToldByTheirFormula) {
  EXPECT_EQ(said("alibi-local-heads"),
            "slopes are those of 4 heads, 2 times over, as on each of 2 ranks that count their own heads alone");
  EXPECT_EQ(said("alibi-slopes-rounded-twice"), "slopes are rounded to float16 before bfloat16");
  EXPECT_EQ(said("alibi-slopes-toward-zero"), "slopes are cut off to bfloat16, not rounded");
  EXPECT_EQ(said("alibi-first-slope-rounded"),
            "slopes are powers of the first one's bfloat16, where the claim rounds each by itself");
  EXPECT_EQ(said("alibi-head-100"), "head 100 has the slope of head 99");
  EXPECT_EQ(said("alibi-heads-from-64"), "heads from 64 on have the slopes of the first ones");
}

TEST(WrongBiases, OfStepsAreToldByWhereQueriesStand) {
  EXPECT_EQ(said("decode-chunk-at-once"),
            "queries of a step stand further on by the queries that come after them: where the last does, of "
            "consecutive ones");
  EXPECT_EQ(said("decode-alibi-from-top"), "distances of a step count from the first key, either way");
  EXPECT_EQ(said("decode-alibi-from-top-bfloat16"), said("decode-alibi-from-top"));
  EXPECT_EQ(said("decode-unused-end"),
            "in a step queries' indices are counted back from the cache's end, not from their row's, so that they see "
            "each other");
  EXPECT_EQ(said("cache-page-tail"), "of 165 tokens the last query alone does not see keys 160 to 164");
}

// A right bias whose call is another one.
std::string said_of(const char* claim, const std::function<void(Tensors& inputs)>& change) {
  const FunctionSubject subject("changed", [change](const Spec& spec) -> FunctionSubject::Call {
    const std::shared_ptr<Session> session = builtin_subject()->open(spec);
    return [change, session](std::string_view operation, const Tensors& inputs) {
      Tensors changed = inputs;
      change(changed);
      return session->call(operation, changed);
    };
  });
  const auto diagnosis = diagnose(subject, parse_spec(claim));
  return diagnosis ? words_of(*diagnosis) : std::string();
}

std::vector<std::int64_t> integers(const Tensors& inputs, const char* name) { return inputs.at(name).integers(); }
void set(Tensors& inputs, const char* name, const std::vector<std::int64_t>& values) {
  inputs.insert_or_assign(name, Tensor::of_integers({std::ssize(values)}, values));
}

TEST(WrongBiases, OfSomeCallsSayOfWhich) {
  constexpr const char* t5 = R"({"encoding":"relative_bias"})";
  const auto last_keys = [](Tensors& inputs) {
    const std::vector<std::int64_t> keys = integers(inputs, "key_positions");
    const auto queries = std::ssize(integers(inputs, "query_positions"));
    if (queries < std::ssize(keys)) set(inputs, "query_positions", {keys.end() - queries, keys.end()});
  };
  EXPECT_EQ(said_of(t5, last_keys),
            "queries that are fewer than keys are taken for the keys' last, whatever their positions");
  const auto one_by_one = [](Tensors& inputs) {
    std::vector<std::int64_t> queries = integers(inputs, "query_positions");
    const std::int64_t first =
        integers(inputs, "key_positions").empty() ? 0 : integers(inputs, "key_positions").front();
    for (std::size_t i = 0; i < queries.size(); ++i) queries[i] = first + static_cast<std::int64_t>(i);
    set(inputs, "query_positions", queries);
  };
  EXPECT_EQ(said_of(t5, one_by_one),
            "biases are those of queries that follow each other one by one from the first key's position on");
  const auto in_order = [](Tensors& inputs) {
    std::vector<std::int64_t> keys = integers(inputs, "key_positions");
    std::ranges::sort(keys);
    set(inputs, "key_positions", keys);
  };
  EXPECT_EQ(said_of(t5, in_order), "biases are those of keys in the order of their positions");
  // ALiBi's distances of indices, whatever the positions.
  const FunctionSubject by_index("indices", [](const Spec&) -> FunctionSubject::Call {
    return [](std::string_view, const Tensors& inputs) {
      constexpr std::int64_t heads = 8;
      const std::int64_t queries = inputs.at("query_positions").elements();
      const std::int64_t keys = inputs.at("key_positions").elements();
      Tensor bias = Tensor::zeros(Dtype::float32, {heads, queries, keys});
      for (std::int64_t i = 0; i < bias.elements(); ++i)
        bias.set(i, -std::exp2(-1 - i / (queries * keys)) * static_cast<double>(i / keys % queries - i % keys));
      return Tensors{{"bias", std::move(bias)}};
    };
  });
  const auto diagnosis = diagnose(by_index, parse_spec(R"({"encoding":"alibi","num_heads":8})"));
  ASSERT_TRUE(diagnosis);
  EXPECT_EQ(words_of(*diagnosis), "distances are those of indices in the call, not of positions");
}

// ALiBi of 8 heads by another formula.
std::string said_of_alibi(
    const char* claim,
    const std::function<double(const std::vector<std::int64_t>& queries, const std::vector<std::int64_t>& keys,
                               std::size_t query, std::size_t key)>& distance) {
  const FunctionSubject subject("other distances", [distance](const Spec&) -> FunctionSubject::Call {
    return [distance](std::string_view, const Tensors& inputs) {
      const std::vector<std::int64_t> queries = inputs.at("query_positions").integers();
      const std::vector<std::int64_t> keys = inputs.at("key_positions").integers();
      Tensor bias = Tensor::zeros(Dtype::float32, {8, std::ssize(queries), std::ssize(keys)});
      for (std::int64_t i = 0; i < bias.elements(); ++i) {
        const auto cell = static_cast<std::size_t>(i);
        const std::size_t head = cell / keys.size() / queries.size();
        bias.set(i, -std::exp2(-1 - static_cast<double>(head)) *
                        distance(queries, keys, cell / keys.size() % queries.size(), cell % keys.size()));
      }
      return Tensors{{"bias", std::move(bias)}};
    };
  });
  const auto diagnosis = diagnose(subject, parse_spec(claim));
  return diagnosis ? words_of(*diagnosis) : std::string();
}

TEST(WrongBiases, OfAlibiAreToldByTheCallsAndWhatTheyAre) {
  constexpr const char* distances = R"({"encoding":"alibi","num_heads":8})";
  const auto own = [](const auto& queries, const auto& keys, std::size_t query, std::size_t key) {
    return static_cast<double>(queries[query] - keys[key]);
  };
  EXPECT_EQ(said_of_alibi(distances, own), "");
  // Keys counted back from a call's last are 0 in a call of position 0 alone, and in no other of one key.
  EXPECT_EQ(said_of_alibi(R"({"encoding":"alibi","num_heads":8,"form":"key_index"})",
                          [](const auto&, const auto& keys, std::size_t, std::size_t key) {
                            return static_cast<double>(std::ranges::max(keys) - keys[key]);
                          }),
            "biases are those of keys counted back from the call's greatest key");
  EXPECT_EQ(said_of_alibi(distances,
                          [&](const auto& queries, const auto& keys, std::size_t query, std::size_t key) {
                            return queries.size() == 1 ? -static_cast<double>(keys[key])
                                                       : own(queries, keys, query, key);
                          }),
            "biases are those of another claim (claims form distance, computes key_index), in calls of one query, and "
            "the rest is right");
  EXPECT_EQ(said_of_alibi(distances,
                          [&](const auto& queries, const auto& keys, std::size_t query, std::size_t key) {
                            const std::int64_t whole = queries[query] - keys[key];
                            return static_cast<double>(keys.size() > 32 ? whole / 4 * 4 : whole);
                          }),
            "biases are those of distances rounded down to multiples of 4, in calls of 33 and more keys, and the rest "
            "is right");
  EXPECT_EQ(said_of_alibi(distances,
                          [&](const auto& queries, const auto& keys, std::size_t query, std::size_t key) {
                            return static_cast<double>(static_cast<std::int16_t>(queries[query] - keys[key]));
                          }),
            "biases are those of distances that are numbers of 16 bits with a sign");
  EXPECT_EQ(said_of_alibi(R"({"encoding":"alibi","num_heads":8,"mask":"symmetric"})",
                          [&](const auto& queries, const auto& keys, std::size_t query, std::size_t key) {
                            const double distance = own(queries, keys, query, key);
                            return queries.size() == 1 ? std::max(distance, 0.0) : std::fabs(distance);
                          }),
            "keys after the query have no bias, in calls of one query, and the rest is right");
}

}  // namespace
}  // namespace sextant::identify::identify_wrong_biases_test
