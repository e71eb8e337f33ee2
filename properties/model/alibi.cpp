#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "properties/model/alibi_budget.hpp"
#include "properties/model/attention_part.hpp"
#include "properties/model/biases.hpp"
#include "properties/model/models.hpp"
#include "properties/model/row_agreement.hpp"
#include "properties/model/value_judge.hpp"
#include "properties/model/variants.hpp"
#include "properties/verdict/bound_text.hpp"
#include "reference/alibi.hpp"
#include "reference/rounding.hpp"

namespace sextant {
namespace {

using reference::Certainty;
using reference::Enclosure;
using reference::Precision;

class AlibiJudge final : public BiasJudge {
 public:
  AlibiJudge(const Spec& spec, const Alibi& encoding)
      : dtype_(spec.dtype), ulps_(evaluation_ulps(arithmetic_of(spec))), budget_(spec, encoding) {}

  Judgement values(const Call& call, const Tensor& answer) override {
    Judgement judgement;
    add_values(judgement, call, answer);
    if (judgement.finding.empty()) judgement.add_exact(std::nullopt, [] { return "no key is seen"; });
    return judgement;
  }

 private:
  void judge_value(Judgement& judgement, const BiasPlace& place, const Call&, double value) override {
    if (budget_.is_hidden(place.query, place.key)) return;
    const Screen screen(dtype_, ulps_, judgement, place.key);
    if (budget_.passes(screen, place.query, place.key, place.head, value)) return;
    judge_bounded(
        judgement, dtype_, value, budget_.quick_target(place.query, place.key, place.head),
        [&](Precision precision) -> SizedTarget {
          const AlibiBudget::Value expected = *budget_.at(place.query, place.key, place.head, precision);
          return {expected.truth, expected.bound, expected.truth};
        },
        [&] { return place.text(); });
  }

  void judge_two(Judgement& judgement, const BiasPlace& place, double one, double other) override {
    const bool same = same_or_nan(one, other);
    if (!same && budget_.is_hidden(place.query, place.key)) return;
    if (same || !std::isfinite(one) || !std::isfinite(other)) {
      judge_same_bias(judgement, dtype_, place, one, other);
      return;
    }
    const Screen screen(dtype_, ulps_, judgement, 0);
    const double least = budget_.least_bound(screen, place.query, place.key, place.head);
    if (std::fabs(one - other) <= 2 * least * agreement_limit(judgement)) return;
    Deviation deviation;
    const Certainty within = reference::decide([&](Precision precision) {
      const AlibiBudget::Value value = *budget_.at(place.query, place.key, place.head, precision);
      const Enclosure error = abs(Enclosure(one, precision) - Enclosure(other, precision));
      const Enclosure bound = Enclosure(2.0, precision) * value.bound;
      deviation = deviation_of(error, bound, reference::ulp(dtype_, value.truth).upper());
      return reference::at_most(error, bound);
    });
    judgement.add(within, deviation, [&] {
      return fmt::format("{}: {}", two_biases_text(dtype_, place, one, other), bound_text(deviation.of_bound));
    });
  }

  Dtype dtype_;
  double ulps_;
  AlibiBudget budget_;
};

class AlibiScoreBias final : public ScoreBiasOracle {
 public:
  AlibiScoreBias(const Spec& spec, const Alibi& encoding)
      : oracle_(encoding), libm_(spec.libm), roundoff_(angle_roundoff(spec.accuracy)) {
    for (std::int64_t head = 0; head < encoding.num_heads; ++head) {
      const auto slope = reference::DoubleDoubleWithin::of(oracle_.slope(head, reference::first_precision));
      heads_.push_back({static_cast<long double>(slope.high) + static_cast<long double>(slope.low),
                        alibi_roundings(oracle_, head, libm_, roundoff_, reference::first_precision)});
    }
  }

  QuickScoreTerm quickly(const BiasPlace& place, const Tensor*) override {
    const Alibi& encoding = oracle_.encoding();
    if (encoding.mask == Mask::causal && place.key > place.query) return {0, 0, 0};
    const Head& head = heads_[static_cast<std::size_t>(place.head)];
    const std::int64_t factor = encoding.form == AlibiForm::key_index ? place.key : -std::abs(place.query - place.key);
    const long double value = head.slope * static_cast<long double>(factor);
    // The slope and the product are rounded once each.
    return {value, static_cast<double>(std::fabs(value)) * 0x1p-62, head.roundings};
  }

  ScoreTerm at(const BiasPlace& place, const Tensor*, Precision precision) override {
    const auto value = oracle_.bias(place.query, place.key, place.head, precision);
    // A key that alibi's own mask hides is hidden by the attention's as well, and not read.
    if (!value) return {Enclosure(std::int64_t{0}, precision), 0};
    return {*value, alibi_roundings(oracle_, place.head, libm_, roundoff_, precision)};
  }

 private:
  struct Head {
    long double slope;
    double roundings;
  };

  reference::AlibiReference oracle_;
  double libm_;
  double roundoff_;
  std::vector<Head> heads_;
};

class AlibiModel final : public BiasModel {
 public:
  AlibiModel(const Spec& spec, const Alibi& encoding) : BiasModel(spec), encoding_(encoding) {}

  std::int64_t judged_values() const override { return 48 * encoding_.num_heads; }

  std::vector<Variant> variants() const override {
    Variants<Alibi> list(spec());
    list.with("num_heads", [](Alibi& e) { e.num_heads += 3; });
    list.with("mask", [](Alibi& e) { e.mask = e.mask == Mask::causal ? Mask::symmetric : Mask::causal; });
    list.with("form",
              [](Alibi& e) { e.form = e.form == AlibiForm::distance ? AlibiForm::key_index : AlibiForm::distance; });
    list.with("slopes", [](Alibi& e) {
      // Of a power of two heads the rules agree.
      if (std::has_single_bit(static_cast<std::uint64_t>(e.num_heads))) return;
      e.slopes = e.slopes == AlibiSlopes::released ? AlibiSlopes::geometric : AlibiSlopes::released;
    });
    list.with("bias_max", [](Alibi& e) { e.bias_max = e.bias_max == 8 ? 16 : 8; });
    for (const std::optional<Dtype> dtype : {std::optional<Dtype>(), std::optional(Dtype::bfloat16)}) {
      list.with("slope_dtype", [&](Alibi& e) {
        // Whole powers of two are values of every dtype.
        const bool all_powers =
            std::has_single_bit(static_cast<std::uint64_t>(e.num_heads)) && e.bias_max % e.num_heads == 0;
        if (!all_powers) e.slope_dtype = dtype;
      });
    }
    return list.made();
  }

  // Step 8.
  std::string met_beyond() const override {
    reference::AlibiReference oracle(encoding_);
    double steepest = 0;
    for (std::int64_t head = 0; head < encoding_.num_heads; ++head)
      steepest = std::max(steepest, oracle.slope(head, reference::first_precision).upper());
    const auto fall = [&](std::int64_t end) { return steepest * static_cast<double>(end - 1 - range().first); };
    return fmt::format("the line goes on: scores fall by up to {:.6g} in the steepest head, by {:.6g} in training",
                       fall(range().last), fall(trained_end()));
  }

  std::unique_ptr<Judge> judge() const override { return std::make_unique<AlibiJudge>(spec(), encoding_); }
  std::unique_ptr<ScoreBiasOracle> score_bias() const override {
    return std::make_unique<AlibiScoreBias>(spec(), encoding_);
  }

 private:
  std::int64_t swept_heads() const override { return encoding_.num_heads; }

  Alibi encoding_;
};

}  // namespace

std::unique_ptr<EncodingModel> make_model(const Spec& spec, const Alibi& encoding) {
  return std::make_unique<AlibiModel>(spec, encoding);
}

}  // namespace sextant
