#include "properties/identify/other_scores.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <variant>

#include "lib/numeric/dtype.hpp"
#include "lib/spec/of.hpp"

namespace sextant::identify {

void add_other_scores(const Attention& claimed, std::vector<OtherAttention>& list) {
  if (claimed.sinks || claimed.query_scale) return;
  const auto add = [&](std::string words, auto score) {
    list.push_back({.words = std::move(words), .weights = ScoresToWeights::of_scores, .score = score});
  };
  if (claimed.logit_softcap) {
    const double cap = *claimed.logit_softcap;
    OtherAttention uncapped{.words = "", .says = OtherAttention::Says::claim};
    uncapped.change = [](Spec& spec, AttentionCase&) { held<Attention>(spec)->logit_softcap.reset(); };
    list.push_back(std::move(uncapped));
    add("capped scores are not multiplied by the softcap",
        [cap](double product, double bias) { return std::tanh(product / cap) + bias; });
    add("scores beyond the softcap are cut off, where the claim has its tanh",
        [cap](double product, double bias) { return std::clamp(product, -cap, cap) + bias; });
    if (claimed.position)
      add("the bias is added before the softcap, where the claim adds it after",
          [cap](double product, double bias) { return cap * std::tanh((product + bias) / cap); });
    return;
  }
  // Weights that lie at a tie of the format may be rounded either way by what they are off: that is not looked for.
  for (const Dtype format : {Dtype::float16, Dtype::bfloat16}) {
    const auto rounded = [format](double value) { return round_to(format, value); };
    list.push_back({.words = fmt::format("weights are rounded to {} before they multiply values", name_of(format)),
                    .stage = DiagnosedStage::rounding,
                    .weights = ScoresToWeights::of_scores,
                    .weight = rounded});
    list.push_back({.words = fmt::format("exponentials are rounded to {} before they multiply values", name_of(format)),
                    .stage = DiagnosedStage::rounding,
                    .weights = ScoresToWeights::of_scores,
                    .exponential = rounded});
  }
  for (const double limit : {8.0, 10.0, 16.0, 20.0, 30.0, 32.0, 50.0, 60.0, 64.0, 80.0, 88.0, 100.0, 128.0}) {
    add(fmt::format("scores above {0:g} are {0:g}", limit),
        [limit](double product, double bias) { return std::min(product + bias, limit); });
    add(fmt::format("scores below -{0:g} are -{0:g}", limit),
        [limit](double product, double bias) { return std::max(product + bias, -limit); });
    add(fmt::format("scores are cut off at {0:g} and -{0:g}", limit),
        [limit](double product, double bias) { return std::clamp(product + bias, -limit, limit); });
  }
}

}  // namespace sextant::identify
