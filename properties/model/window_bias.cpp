#include "reference/window_bias.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "properties/model/attention_part.hpp"
#include "properties/model/biases.hpp"
#include "properties/model/models.hpp"
#include "properties/model/variants.hpp"

namespace sextant {
namespace {

// A lookup: bit for bit.
class WindowJudge final : public BiasJudge {
 public:
  WindowJudge(const Spec& spec, const WindowBias& encoding) : dtype_(spec.dtype), encoding_(encoding) {}

  Judgement values(const Call& call, const Tensor& answer) override {
    Judgement judgement;
    add_values(judgement, call, answer);
    return judgement;
  }

 private:
  void judge_value(Judgement& judgement, const BiasPlace& place, const Call& call, double value) override {
    const std::int64_t row = reference::window_row(encoding_, place.query, place.key);
    const double expected = call.weight->at(row * call.weight->shape[1] + place.head);
    if (!judgement.finding.empty() && value == expected) return;
    judgement.add_exact(value == expected
                            ? std::nullopt
                            : std::optional(fmt::format("{}, row {}: got {}, the weight is {}", place.text(), row,
                                                        value_text(dtype_, value), value_text(dtype_, expected))),
                        [] { return "every weight exact"; });
  }

  void judge_two(Judgement& judgement, const BiasPlace& place, double one, double other) override {
    judge_same_bias(judgement, dtype_, place, one, other);
  }

  Dtype dtype_;
  WindowBias encoding_;
};

class WindowScoreBias final : public ScoreBiasOracle {
 public:
  explicit WindowScoreBias(const WindowBias& encoding) : encoding_(encoding) {}

  QuickScoreTerm quickly(const BiasPlace& place, const Tensor* weight) override {
    const std::int64_t row = reference::window_row(encoding_, place.query, place.key);
    return {weight->at(row * weight->shape[1] + place.head), 0, 0};
  }

  ScoreTerm at(const BiasPlace& place, const Tensor* weight, reference::Precision precision) override {
    return {reference::bias(encoding_, *weight, place.query, place.key, place.head, precision), 0};
  }

 private:
  WindowBias encoding_;
};

class WindowModel final : public BiasModel {
 public:
  WindowModel(const Spec& spec, const WindowBias& encoding) : BiasModel(spec), encoding_(encoding) {}

  std::int64_t judged_values() const override { return 0; }  // no value needs the exact tier

  // A square window hides which extent is which, so an oblong one is among them, and its other way round.
  std::vector<Variant> variants() const override {
    Variants<WindowBias> list(spec(), without_class_token());
    list.with("window", [](WindowBias& e) { e.window.back() += 2; });
    list.with("window", [](WindowBias& e) { e.window.front() += 3; });
    list.with("window", [](WindowBias& e) {
      e.window.front() += 1;
      std::ranges::reverse(e.window);
    });
    list.with("class_token", [](WindowBias& e) { e.class_token = ClassToken::first; });
    return list.made();
  }

  std::optional<std::string> not_shift_invariant() const override {
    if (encoding_.window.size() == 1 && encoding_.class_token == ClassToken::none) return std::nullopt;
    return "tokens as far apart in number may lie in one row of the window or in two";
  }

  std::unique_ptr<Judge> judge() const override { return std::make_unique<WindowJudge>(spec(), encoding_); }
  std::unique_ptr<ScoreBiasOracle> score_bias() const override { return std::make_unique<WindowScoreBias>(encoding_); }

 private:
  // A claim of all tokens has one less then.
  std::vector<Variant> without_class_token() const {
    Spec changed = spec();
    auto& encoding = std::get<WindowBias>(changed.encoding);
    if (encoding.class_token == ClassToken::none) return {};
    encoding.class_token = ClassToken::none;
    changed.max_position = std::min(changed.max_position, position_count(encoding));
    if (changed.max_position <= changed.min_position) return {};
    return {{"class_token", std::move(changed)}};
  }

  std::int64_t swept_heads() const override { return 2; }

  std::optional<Tensor> drawn_weight(std::int64_t heads, std::int64_t fill) const override {
    return drawn_table(spec().dtype, weight_rows(encoding_), heads, fill);
  }

  WindowBias encoding_;
};

}  // namespace

std::unique_ptr<EncodingModel> make_model(const Spec& spec, const WindowBias& encoding) {
  return std::make_unique<WindowModel>(spec, encoding);
}

}  // namespace sextant
