#include "reference/window_bias.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "properties/model/looked_up_bias.hpp"
#include "properties/model/models.hpp"
#include "properties/model/variants.hpp"

namespace sextant {
namespace {

// Rows of the weight.
class WindowRows {
 public:
  static constexpr std::string_view name = "row";

  explicit WindowRows(const WindowBias& encoding) : encoding_(encoding) {}

  std::int64_t of(const BiasPlace& place) const { return reference::window_row(encoding_, place.query, place.key); }
  std::optional<std::int64_t> beside(const BiasPlace&) const { return std::nullopt; }

  reference::Enclosure truth(const Tensor& weight, const BiasPlace& place, reference::Precision precision) const {
    return reference::bias(encoding_, weight, place.query, place.key, place.head, precision);
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

  std::unique_ptr<Judge> judge() const override {
    return std::make_unique<LookedUpJudge<WindowRows>>(spec().dtype, WindowRows(encoding_));
  }
  std::unique_ptr<ScoreBiasOracle> score_bias() const override {
    return std::make_unique<LookedUpScoreBias<WindowRows>>(WindowRows(encoding_));
  }

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
