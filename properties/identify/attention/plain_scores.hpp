#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lib/spec/spec.hpp"
#include "properties/identify/attention/other_attention.hpp"
#include "properties/model/attention_budget.hpp"
#include "properties/model/attention_case.hpp"
#include "properties/model/attention_part.hpp"
#include "properties/model/attention_quick.hpp"

namespace sextant::identify {

/// Attention whose weights are no softmax over keys, or one of other scores, in double, of a case that outlives it, as
/// the other attention does. Sinks count in a softmax of other scores alone.
class PlainScores {
 public:
  PlainScores(const Spec& spec, const AttentionCase& request, TurningOracle* turning, ScoreBiasOracle* bias,
              const OtherAttention& other);

  QuickAttentionRow row(const AttentionPlaceOfHead& place);

 private:
  // A vector as the position leaves it, and what an implementation's channels may be off by.
  struct Vector {
    std::vector<double> channels;
    std::vector<double> sizes;
    std::vector<double> errors;
  };

  // Of the queries that see a key: the sum of exp(score), and the greatest error of their scores.
  struct OverQueries {
    double sum = 0;
    double worst = 0;
  };

  // What places of one head share, made when it is first asked for: every query meets every key.
  struct Head {
    std::int64_t batch = -1;
    std::int64_t head = -1;
    std::vector<std::optional<Vector>> queries;
    std::vector<std::optional<Vector>> keys;
    std::vector<std::optional<OverQueries>> over_queries;
  };

  enum class Comes { plain, turned };
  Vector vector(const Tensor& tensor, std::int64_t row, const VectorPlace& place, Comes comes) const;
  void turn(Vector& made, std::span<const double> given, const VectorPlace& place) const;
  void enter_head_of(const AttentionPlaceOfHead& place);
  // These four are of places of the head that was entered.
  const Vector& query_at(const AttentionPlaceOfHead& place);
  const Vector& key_at(const AttentionPlaceOfHead& place, std::int64_t key);
  const OverQueries& over_queries(const AttentionPlaceOfHead& place, std::int64_t key);
  KeyScore score(const AttentionPlaceOfHead& place, std::int64_t key);

  void change_scores(std::vector<KeyScore>& scores, ScoresOfQuery of) const;

  Spec spec_;
  Attention encoding_;
  AttentionArithmetic arithmetic_;
  const AttentionCase& request_;
  TurningOracle* turning_;
  ScoreBiasOracle* bias_;
  const OtherAttention& other_;
  std::vector<std::int64_t> lengths_;
  Head entered_;
};

}  // namespace sextant::identify
