#include "reference/reach.hpp"

#include <fmt/format.h>

#include "properties/model/attention_part.hpp"
#include "properties/model/biases.hpp"
#include "properties/model/models.hpp"
#include "properties/model/variants.hpp"

namespace sextant {
namespace {

// Integers down to -2^7, which every dtype holds.
class ReachJudge final : public BiasJudge {
 public:
  ReachJudge(const Spec& spec, const Reach& encoding) : dtype_(spec.dtype), encoding_(encoding) {}

  Judgement values(const Call& call, const Tensor& answer) override {
    Judgement judgement;
    add_values(judgement, call, answer);
    return judgement;
  }

 private:
  void judge_value(Judgement& judgement, const BiasPlace& place, const Call&, double value) override {
    const double expected =
        reference::bias(encoding_, place.query, place.key, place.head, reference::first_precision).upper();
    judgement.add_exact(value == expected ? std::nullopt
                                          : std::optional(fmt::format("{}: got {}, expected {}", place.text(),
                                                                      value_text(dtype_, value), expected)),
                        [] { return "every value exact"; });
  }

  void judge_two(Judgement& judgement, const BiasPlace& place, double one, double other) override {
    judge_same_bias(judgement, dtype_, place, one, other);
  }

  Dtype dtype_;
  Reach encoding_;
};

class ReachScoreBias final : public ScoreBiasOracle {
 public:
  explicit ReachScoreBias(const Reach& encoding) : encoding_(encoding) {}

  ScoreTerm at(const BiasPlace& place, const Tensor*, reference::Precision precision) override {
    return {reference::bias(encoding_, place.query, place.key, place.head, precision), 0};
  }

 private:
  Reach encoding_;
};

class ReachModel final : public BiasModel {
 public:
  ReachModel(const Spec& spec, const Reach& encoding) : BiasModel(spec), encoding_(encoding) {}

  std::int64_t judged_values() const override { return 0; }  // no value needs the exact tier

  std::vector<Variant> variants() const override {
    Variants<Reach> list(spec());
    list.with("num_heads", [](Reach& e) { e.num_heads = e.num_heads > 1 ? e.num_heads - 1 : 2; });
    return list.made();
  }

  std::unique_ptr<Judge> judge() const override { return std::make_unique<ReachJudge>(spec(), encoding_); }
  std::unique_ptr<ScoreBiasOracle> score_bias() const override { return std::make_unique<ReachScoreBias>(encoding_); }

 private:
  std::int64_t swept_heads() const override { return encoding_.num_heads; }

  Reach encoding_;
};

}  // namespace

std::unique_ptr<EncodingModel> make_model(const Spec& spec, const Reach& encoding) {
  return std::make_unique<ReachModel>(spec, encoding);
}

}  // namespace sextant
