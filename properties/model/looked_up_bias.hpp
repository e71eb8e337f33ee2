#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "properties/model/attention_part.hpp"
#include "properties/model/biases.hpp"

namespace sextant {

/// Judges a bias that is one row of its weight, bit for bit. `rows.of(place)` is that row's number, and
/// `rows.beside(place)` another that the claim's arithmetic may read in its place, if any; `Rows::name` is what a
/// finding calls it.
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
    const auto is_met = [&] {
      const std::optional<std::int64_t> other = value == expected ? std::nullopt : rows_.beside(place);
      return value == expected || (other && value == call.weight->at(*other * call.weight->shape[1] + place.head));
    };
    const bool is_right = is_met();
    if (!judgement.finding.empty() && is_right) return;
    judgement.add_exact(is_right
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
    const long double value = weight_at(*weight, rows_.of(place), place);
    const std::optional<std::int64_t> other = rows_.beside(place);
    if (!other) return {value, 0, 0};
    const long double half = (weight_at(*weight, *other, place) - value) / 2;
    // Of doubles, whose sum and difference a long double holds within 2^-63 of the greater.
    const long double most = std::max(std::fabs(value), std::fabs(value + 2 * half));
    return {value + half, static_cast<double>(std::fabs(half) + most * 0x1p-60L), 0};
  }

  ScoreTerm at(const BiasPlace& place, const Tensor* weight, reference::Precision precision) override {
    const reference::Enclosure truth = rows_.truth(*weight, place, precision);
    const std::optional<std::int64_t> other = rows_.beside(place);
    if (!other) return {truth, 0};
    return {reference::Enclosure::hull(truth, {weight_at(*weight, *other, place), precision}), 0};
  }

 private:
  static double weight_at(const Tensor& weight, std::int64_t row, const BiasPlace& place) {
    return weight.at(row * weight.shape[1] + place.head);
  }

  Rows rows_;
};

}  // namespace sextant
