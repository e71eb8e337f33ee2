#include "properties/identify/attention/other_scores.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "lib/numeric/dtype.hpp"
#include "lib/spec/of.hpp"
#include "properties/identify/attention/other_query_scales.hpp"
#include "properties/identify/format_text.hpp"

namespace sextant::identify {
namespace {

// A softcap of scaled queries' products is no scale of what it leaves.
void add_scaled_scores(const Attention& claimed, std::vector<OtherAttention>& list) {
  if (!claimed.logit_softcap) return;
  OtherAttention after{.words =
                           "scores are scaled by their query's position after the softcap, where the claim scales "
                           "queries before it",
                       .weights = ScoresToWeights::of_scores};
  after.score = [cap = *claimed.logit_softcap](double product, double bias) {
    return cap * std::tanh(product / cap) + bias;
  };
  after.scores = [scale = *claimed.query_scale](const ScoresOfQuery& of) {
    const double by = query_scale_at(scale, of.request.query_position(of.place.batch, of.place.token));
    for (double& score : of.scores) score *= by;
  };
  list.push_back(std::move(after));
}

// A running maximum that what was summed before is not rescaled by, in tiles of so many keys.
void add_tiles(std::vector<OtherAttention>& list) {
  for (const std::int64_t tile : {16, 32, 64, 128, 256}) {
    OtherAttention kept{
        .words = fmt::format("sums of the tiles of {} keys before are not rescaled by the new maximum", tile),
        .weights = ScoresToWeights::of_scores};
    kept.scores = [tile](const ScoresOfQuery& of) {
      double greatest = -std::numeric_limits<double>::infinity();
      for (std::int64_t first = of.keys.first; first < of.keys.end;) {
        const std::int64_t end = std::min((first / tile + 1) * tile, of.keys.end);
        const auto scores =
            of.scores.subspan(static_cast<std::size_t>(first - of.keys.first), static_cast<std::size_t>(end - first));
        greatest = std::max(greatest, std::ranges::max(scores));
        for (double& score : scores) score -= greatest;
        first = end;
      }
    };
    list.push_back(std::move(kept));
  }
}

// A sum of products that was multiplied by a scale and divided by it again: without what that is off by, which would
// decide ties.
double product_before(double scaled, double scale) {
  int exponent = 0;
  const double mantissa = std::frexp(scaled / scale, &exponent);
  constexpr int kept = 46;
  return std::ldexp(std::round(std::ldexp(mantissa, kept)), exponent - kept);
}

// So far below the greatest that it has no weight.
double without_weight(const ScoresOfQuery& of) { return std::ranges::max(of.scores) - 1000; }

enum class OfWhat { sum, greatest };
enum class Divided { by_all, by_the_rest };

// Weights below a number, or below so much of the greatest, are left out; the others are divided by all, or by theirs.
OtherAttention without_small_weights(double least, OfWhat of_what, Divided divided) {
  const std::string_view which = of_what == OfWhat::sum ? "" : " times their query's greatest";
  OtherAttention other{
      .words = divided == Divided::by_all
                   ? fmt::format("weights below {:g}{} are taken for 0", least, which)
                   : fmt::format("keys whose weights are below {:g}{} are left out of softmax", least, which),
      .weights = ScoresToWeights::of_scores};
  if (divided == Divided::by_all && of_what == OfWhat::sum) {
    other.weight = [least](double weight) { return weight < least ? 0 : weight; };
  } else if (divided == Divided::by_all) {
    other.exponential = [least](double exponential) { return exponential < least ? 0 : exponential; };
  } else {
    other.scores = [least, of_what](const ScoresOfQuery& of) {
      const double greatest = std::ranges::max(of.scores);
      double sum = 0;
      for (const double score : of.scores) sum += std::exp(score - greatest);
      const double all = of_what == OfWhat::sum ? sum : 1;
      const double none = without_weight(of);
      for (double& score : of.scores) {
        if (std::exp(score - greatest) < least * all) score = none;
      }
    };
  }
  return other;
}

// So many of a query's greatest weights are kept.
OtherAttention with_greatest_weights(std::int64_t count, Divided divided) {
  OtherAttention other{.words = fmt::format("a query's {} greatest weights alone are kept{}", count,
                                            divided == Divided::by_all ? ", divided by the sum of all" : ""),
                       .weights = ScoresToWeights::of_scores};
  const auto least = std::make_shared<double>(0);
  other.scores = [least, count, divided](const ScoresOfQuery& of) {
    *least = 0;
    if (count >= std::ssize(of.scores)) return;
    std::vector<double> sorted(of.scores.begin(), of.scores.end());
    std::ranges::nth_element(sorted, sorted.begin() + count - 1, std::ranges::greater());
    const double last = sorted[static_cast<std::size_t>(count - 1)];
    *least = std::exp(last - std::ranges::max(of.scores)) * (1 - 0x1p-40);
    const double none = without_weight(of);
    for (double& score : of.scores) {
      if (score < last && divided == Divided::by_the_rest) score = none;
    }
  };
  if (divided == Divided::by_all)
    other.exponential = [least](double exponential) { return exponential < *least ? 0 : exponential; };
  return other;
}

void add_dropped_weights(const AttentionCase& request, std::vector<OtherAttention>& list) {
  for (const double least : {1e-1, 5e-2, 2e-2, 1e-2, 5e-3, 2e-3, 1e-3, 1e-4, 1e-5, 1e-6}) {
    for (const OfWhat of_what : {OfWhat::sum, OfWhat::greatest}) {
      for (const Divided divided : {Divided::by_all, Divided::by_the_rest})
        list.push_back(without_small_weights(least, of_what, divided));
    }
  }
  for (const std::int64_t count : {1, 2, 3, 4, 5, 8, 10, 16, 20, 32, 40, 50, 64, 100, 128}) {
    if (count >= request.tokens) break;
    for (const Divided divided : {Divided::by_all, Divided::by_the_rest})
      list.push_back(with_greatest_weights(count, divided));
  }
}

}  // namespace

void add_rounded_steps(const Spec& claim, std::vector<OtherAttention>& list) {
  const auto& claimed = *held<Attention>(claim);
  for (const Dtype format : {Dtype::float16, Dtype::bfloat16}) {
    const auto rounded = [format](double value) { return round_to(format, value); };
    const auto add = [&](const std::string& what, auto set, std::string_view when = "") {
      OtherAttention other{.words = fmt::format("{} rounded to {}{}", what, format_text(format, claim.dtype), when),
                           .stage = DiagnosedStage::rounding,
                           .weights = ScoresToWeights::of_scores};
      set(other);
      // So that what explains every bit is nearer than what another step's rounding is mistaken for.
      if (is_16_bit(claim.dtype)) other.result = [own = claim.dtype](double value) { return round_to(own, value); };
      list.push_back(std::move(other));
    };
    const double scale = score_scale(claimed);
    add("queries that are scaled by softmax_scale are", [&](OtherAttention& other) {
      other.channel = [=](double channel, Role role) {
        return role == Role::query ? rounded(channel * scale) / scale : channel;
      };
    });
    const bool turns = claimed.position && carried<Alibi>(claimed) == nullptr;
    const auto of_roles = [&](std::string_view who, auto is_one) {
      add(fmt::format("{}{} are", turns ? "turned " : "", who), [&](OtherAttention& other) {
        other.channel = [=](double channel, Role role) { return is_one(role) ? rounded(channel) : channel; };
      });
    };
    of_roles("queries", [](Role role) { return role == Role::query; });
    of_roles("keys", [](Role role) { return role == Role::key; });
    of_roles("queries and keys", [](Role) { return true; });
    // As the claim has it before its softcap.
    const auto of_product = [&](OtherAttention& other, auto round_product) {
      other.score = [=, cap = claimed.logit_softcap](double product, double bias) {
        const double score = round_product(product);
        return (cap ? *cap * std::tanh(score / *cap) : score) + bias;
      };
    };
    if (!claimed.query_scale) {
      add("scores are", [&](OtherAttention& other) { of_product(other, rounded); });
      add("products of queries and keys, not yet scaled, are", [&](OtherAttention& other) {
        of_product(other, [=](double product) { return rounded(product_before(product, scale)) * scale; });
      });
    }
    add(
        "exponentials of scores are", [&](OtherAttention& other) { other.summed = rounded; },
        " before they are added up");
    add("values are", [&](OtherAttention& other) {
      other.change = [=](Spec&, AttentionCase& request) {
        for (std::int64_t i = 0; i < request.v.elements(); ++i) request.v.set(i, rounded(request.v.at(i)));
      };
    });
    // Weights that lie at a tie of the format may be rounded either way by what they are off: that is not looked for.
    add(
        "weights are", [&](OtherAttention& other) { other.weight = rounded; }, " before they multiply values");
    add(
        "exponentials are", [&](OtherAttention& other) { other.exponential = rounded; },
        " before they multiply values");
    add("the sum of exponentials is", [&](OtherAttention& other) { other.total = rounded; });
    add(
        "sums of exponentials and values are", [&](OtherAttention& other) { other.undivided = rounded; },
        " before they are divided by the exponentials' sum");
    const auto less_greatest = [=](const ScoresOfQuery& of) {
      const double greatest = std::ranges::max(of.scores);
      for (double& score : of.scores) score = rounded(score - greatest);
    };
    add(
        "scores less the greatest are", [&](OtherAttention& other) { other.scores = less_greatest; },
        " before the exponential");
    add("the exponential is taken of scores less the greatest, and both are", [&](OtherAttention& other) {
      other.scores = less_greatest;
      other.summed = rounded;
    });
  }
}

void add_other_scores(const Attention& claimed, const AttentionCase& request, std::vector<OtherAttention>& list) {
  if (claimed.query_scale) {
    add_scaled_scores(claimed, list);
    return;
  }
  const auto add = [&](std::string words, auto score) {
    list.push_back({.words = std::move(words), .weights = ScoresToWeights::of_scores, .score = score});
  };
  if (claimed.logit_softcap) {
    const double cap = *claimed.logit_softcap;
    OtherAttention uncapped{.words = "", .says = OtherAttention::Says::claim};
    uncapped.change = [](Spec& spec, AttentionCase&) { held<Attention>(spec)->logit_softcap.reset(); };
    list.push_back(std::move(uncapped));
    const double scale = score_scale(claimed);
    const auto is_limit_of_products = [cap, scale](double product, double bias) {
      return scale * cap * std::tanh(product / scale / cap) + bias;
    };
    if (std::fabs(scale - 1) > 0x1p-20)
      add("the softcap limits products of queries and keys before they are scaled, where the claim scales them first",
          is_limit_of_products);
    add("capped scores are not multiplied by the softcap",
        [cap](double product, double bias) { return std::tanh(product / cap) + bias; });
    add("scores beyond the softcap are cut off, where the claim has its tanh",
        [cap](double product, double bias) { return std::clamp(product, -cap, cap) + bias; });
    if (claimed.position)
      add("the bias is added before the softcap, where the claim adds it after",
          [cap](double product, double bias) { return cap * std::tanh((product + bias) / cap); });
    return;
  }
  add("products of queries and keys are limited to 65504 before they are scaled",
      [scale = score_scale(claimed)](double product, double bias) {
        return scale * std::clamp(product / scale, -65504.0, 65504.0) + bias;
      });
  add_tiles(list);
  if (!claimed.sinks) add_dropped_weights(request, list);
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
