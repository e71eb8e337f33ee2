#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lib/spec/spec.hpp"
#include "properties/model/attention_case.hpp"
#include "properties/model/attention_part.hpp"
#include "properties/model/attention_quick.hpp"
#include "properties/verdict/diagnosis.hpp"

namespace sextant::identify {

/// What weights are made of scores s_j, or s_ij of query i and key j, in softmax's place.
enum class ScoresToWeights {
  softmax,
  of_scores,            ///< the same, of scores that are made otherwise
  none,                 ///< s_j itself
  over_queries,         ///< e^s_ij by the sum over the queries that see key j
  by_count,             ///< e^s_j by the number of keys
  by_count_of_greatest  ///< the same of s_j less the greatest of a query's
};

/// The scores of one query with the keys that it sees.
struct ScoresOfQuery {
  const AttentionCase& request;
  AttentionPlaceOfHead place;
  KeyRange keys;
  std::span<double> scores;
};

/// Attention that is a claim's but for one thing.
struct OtherAttention {
  std::string words;
  DiagnosedStage stage = DiagnosedStage::other;
  /// The question whose right answer this is, of a spec that may be another one; empty where it is the one asked.
  std::function<void(Spec& spec, AttentionCase& request)> change = {};
  /// What is added to a score; empty where it is what the claim's position adds.
  std::function<QuickScoreTerm(ScoreBiasOracle& own, const BiasPlace& place, const Tensor* weight)> bias = {};
  ScoresToWeights weights = ScoresToWeights::softmax;
  /// Of ScoresToWeights::of_scores: the score, of a scaled product and what is added to it. Neither moves it by more
  /// than it moves itself. Empty where it is the claim's, of scaled queries and with its softcap.
  std::function<double(double product, double bias)> score = {};
  /// Of ScoresToWeights::of_scores too: what becomes of those, by the place of each or by what the others are. It is
  /// off by no more than twice what it was and the error of another one.
  std::function<void(const ScoresOfQuery& of)> scores = {};
  /// Of ScoresToWeights::of_scores too: what becomes of a channel of a query or a key after it is turned, and of
  /// e^(s - greatest) before all are added up.
  std::function<double(double channel, Role role)> channel = {};
  std::function<double(double exponential)> summed = {};
  /// Of ScoresToWeights::of_scores too: what becomes of e^(s - greatest) before it is divided by the sum of all, which
  /// are as they are, and of a weight; empty where nothing does.
  std::function<double(double exponential)> exponential = {};
  std::function<double(double weight)> weight = {};
  /// Of ScoresToWeights::of_scores too: what becomes of the sum of all, and of the sum of e^(s - greatest) v before it
  /// is divided by that.
  std::function<double(double sum)> total = {};
  std::function<double(double sum)> undivided = {};
  /// Of ScoresToWeights::of_scores too: whether a sink counts in the sum; empty where all do.
  std::function<bool(double sink, double greatest)> has_sink = {};
  /// Of ScoresToWeights::of_scores too: the key whose value a sink's weight multiplies; empty where it multiplies none.
  std::function<std::int64_t(const ScoresOfQuery& of)> key_of_sink = {};
  /// What becomes of a result; two are then no further apart than they were.
  std::function<double(double value)> result = {};
  /// The place by which a vector is turned; empty where it is its own.
  std::function<VectorPlace(VectorPlace place)> place = {};
  /// The spec by which keys are turned; empty where it is that of queries.
  std::function<void(Spec& spec)> of_keys = {};
  /// Whether `change` makes the spec that would hold.
  enum class Says { fault, claim } says = Says::fault;
  /// Whether it is one of those that are tried of any call, which those of other extents may have no use for.
  enum class From { list, answers } from = From::answers;
  /// Where it applies, the rest being as claimed, and the end of its sentence on that: ", in odd heads alone". Empty
  /// where it is everywhere.
  std::function<bool(const AttentionPlaceOfHead& at)> applies = {};
  std::string where = {};
};

/// Those that are tried, of calls with the shape of `request`, likeliest first.
std::vector<OtherAttention> other_attention(const Spec& claim, const AttentionCase& request);

}  // namespace sextant::identify
