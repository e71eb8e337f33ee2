#pragma once

#include <fmt/format.h>

#include <optional>
#include <string_view>
#include <utility>

#include "properties/model/attention_part.hpp"
#include "properties/model/biases.hpp"

namespace sextant {

/// Judges a bias that is one row of its weight, bit for bit. `rows.of(place)` is that row's number; `Rows::name` is
/// what a finding calls it.
template <class Rows>
class LookedUpJudge final : public BiasJudge {
 public:
  LookedUpJudge(Dtype dtype, Rows rows) : dtype_(dtype), rows_(std::move(rows)) {}

  Judgement values(const Call& call, const Tensor& answer) override {
    Judgement judgement;
    add_values(judgement, call, answer);
    return judgement;
  }

 private:
  void judge_value(Judgement& judgement, const BiasPlace& place, const Call& call, double value) override {
    const std::int64_t row = rows_.of(place);
    const double expected = call.weight->at(row * call.weight->shape[1] + place.head);
    if (!judgement.finding.empty() && value == expected) return;
    judgement.add_exact(value == expected
                            ? std::nullopt
                            : std::optional(fmt::format("{}, {} {}: got {}, the weight is {}", place.text(), Rows::name,
                                                        row, value_text(dtype_, value), value_text(dtype_, expected))),
                        [] { return "every weight exact"; });
  }

  void judge_two(Judgement& judgement, const BiasPlace& place, double one, double other) override {
    judge_same_bias(judgement, dtype_, place, one, other);
  }

  Dtype dtype_;
  Rows rows_;
};

/// The same bias within attention; `rows.truth(weight, place, precision)` is the oracle's.
template <class Rows>
class LookedUpScoreBias final : public ScoreBiasOracle {
 public:
  explicit LookedUpScoreBias(Rows rows) : rows_(std::move(rows)) {}

  QuickScoreTerm quickly(const BiasPlace& place, const Tensor* weight) override {
    return {weight->at(rows_.of(place) * weight->shape[1] + place.head), 0, 0};
  }

  ScoreTerm at(const BiasPlace& place, const Tensor* weight, reference::Precision precision) override {
    return {rows_.truth(*weight, place, precision), 0};
  }

 private:
  Rows rows_;
};

}  // namespace sextant
