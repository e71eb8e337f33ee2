#pragma once

#include <vector>

#include "lib/spec/spec.hpp"
#include "properties/identify/attention/other_attention.hpp"
#include "properties/model/attention_budget.hpp"
#include "properties/model/attention_case.hpp"
#include "properties/model/attention_part.hpp"
#include "properties/model/attention_quick.hpp"

namespace sextant::identify {

/// Attention whose weights are no softmax over keys, or one of other scores, in double, of a case that outlives it.
/// Sinks count in a softmax of other scores alone.
class PlainScores {
 public:
  PlainScores(const Spec& spec, const AttentionCase& request, TurningOracle* turning, ScoreBiasOracle* bias);

  QuickAttentionRow row(const AttentionPlaceOfHead& place, const OtherAttention& other);

 private:
  // A vector as the position leaves it, and what an implementation's channels may be off by.
  struct Vector {
    std::vector<double> channels;
    std::vector<double> sizes;
    std::vector<double> errors;
  };

  enum class Comes { plain, turned };
  Vector vector(const Tensor& tensor, std::int64_t row, const VectorPlace& place, Comes comes,
                const OtherAttention& other) const;
  void turn(Vector& made, std::span<const double> given, const VectorPlace& place) const;
  KeyScore score(const AttentionPlaceOfHead& place, std::int64_t key, const OtherAttention& other) const;

  static void change_scores(std::vector<KeyScore>& scores, ScoresOfQuery of, const OtherAttention& other);

  Spec spec_;
  Attention encoding_;
  AttentionArithmetic arithmetic_;
  const AttentionCase& request_;
  TurningOracle* turning_;
  ScoreBiasOracle* bias_;
  std::vector<std::int64_t> lengths_;
};

}  // namespace sextant::identify
