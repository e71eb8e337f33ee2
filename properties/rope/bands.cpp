#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "properties/catalogue.hpp"
#include "properties/engine/typed_cases.hpp"
#include "properties/gen/draw.hpp"
#include "properties/gen/position.hpp"
#include "properties/gen/vectors.hpp"
#include "properties/model/budget.hpp"
#include "properties/model/family.hpp"
#include "reference/rope.hpp"
#include "subjects/operations.hpp"

namespace sextant {
namespace {

using reference::Certainty;
using reference::Precision;

constexpr Precision band_precision{128};

// A frequency as a subject's answers show it, and how far it may be off.
struct Measured {
  double frequency;
  double error;
};

// Steps of 1, 4, 16, ... as far as the claim goes from `start`.
std::vector<std::int64_t> steps_from(const Spec& spec, std::int64_t start) {
  std::vector<std::int64_t> steps;
  for (std::int64_t step = 1; step < spec.max_position - start && step <= (std::int64_t{1} << 20); step *= 4)
    steps.push_back(step);
  return steps;
}

// What the rule does between its bands: r_i = w'_i/w_i moves from 1 to 1/s as its ramp's variable moves by `width`.
struct Blend {
  double factor;
  double width;
  std::vector<double> variable;  // of each pair
};

class Bands {
 public:
  Bands(const Spec& spec, const Rope& encoding)
      : spec_(spec),
        encoding_(encoding),
        oracle_(encoding_),
        budget_(arithmetic_of(spec), oracle_.frequencies(), spec.max_position) {
    reference::RopeFrequencies frequencies(encoding_);
    for (std::int64_t pair = 0; pair < pairs(encoding_); ++pair)
      unscaled_.push_back(frequencies.unscaled(pair, band_precision).upper());
    if (const auto* llama3 = std::get_if<Llama3Scaling>(&encoding_.rope_scaling)) {
      blend_ = {llama3->factor, llama3->high_freq_factor - llama3->low_freq_factor, {}};
      for (const double w : unscaled_)
        blend_.variable.push_back(static_cast<double>(llama3->original_max_position_embeddings) * w /
                                  (2 * std::numbers::pi));
    } else {
      const reference::RopeFrequencies::Ramp ramp = *frequencies.ramp(band_precision);
      blend_ = {std::get<YarnScaling>(encoding_.rope_scaling).factor, (ramp.high - ramp.low).lower(), {}};
      for (std::size_t i = 0; i < unscaled_.size(); ++i) blend_.variable.push_back(static_cast<double>(i));
    }
  }

  Judgement judge(Session& session, std::int64_t start) {
    std::vector<std::int64_t> positions{start};
    for (const std::int64_t step : steps_from(spec_, start)) positions.push_back(start + step);
    const Tensor x = gen::vectors(encoding_, spec_.dtype, {.batch = 1, .tokens = std::ssize(positions), .heads = 1}, 0);
    const Tensor y = rotate(session, spec_, x, positions);
    Judgement judgement;
    std::optional<Measured> before;
    for (std::int64_t pair = 0; pair < pairs(encoding_); ++pair) {
      const std::optional<Measured> ratio = measured(y, positions, pair);
      if (!ratio) {
        judgement.add(Certainty::no, not_finite(), [&] { return fmt::format("pair {}: NaN or infinite", pair); });
        return judgement;
      }
      const double r = ratio->frequency;
      const double error = ratio->error;
      // Allowed: what is measured may be off, by at most `error`.
      judge_excess(judgement, std::max(r - 1, 1 / blend_.factor - r), error, [&] {
        return fmt::format("pair {}: its frequency is scaled by {:.9g}, outside of 1/{} to 1", pair, r, blend_.factor);
      });
      if (before) {
        const double both = error + before->error;
        judge_excess(judgement, r - before->frequency, both, [&] {
          return fmt::format("pair {}: scaled by {:.9g}, the faster pair before it by {:.9g}", pair, r,
                             before->frequency);
        });
        const auto i = static_cast<std::size_t>(pair);
        const double step =
            (1 - 1 / blend_.factor) * std::fabs(blend_.variable[i] - blend_.variable[i - 1]) / blend_.width;
        judge_excess(judgement, before->frequency - r - step, both, [&] {
          return fmt::format(
              "pair {}: scaled by {:.9g}, the one before it by {:.9g}: the ramp falls by {:.3g} at most from one to "
              "the other",
              pair, r, before->frequency, step);
        });
      }
      before = ratio;
    }
    return judgement;
  }

 private:
  // z(p + k) conj z(p) is within beta = a (e + e') + e e' of a^2 e^(i w k) (frequencies.cpp), so its angle is within
  // asin(beta/a^2) <= (pi/2) beta/a^2 of w k, up to whole turns. A step of 1 has none, as w < pi; each longer step's
  // are told by the frequency found so far, while four times that one's error and its own stay below half a turn.
  // Doubles add some 2^-50 of a turn. @returns w'/w, nothing if a value is not finite.
  std::optional<Measured> measured(const Tensor& y, const std::vector<std::int64_t>& positions, std::int64_t pair) {
    const Channels at = channels_of_pair(encoding_, encoding_.output_pairing, pair);
    const auto value = [&](std::size_t token, std::int64_t channel) {
      return y.at(static_cast<std::int64_t>(token) * encoding_.head_dim + channel);
    };
    const double sign = encoding_.direction == Direction::clockwise ? -1 : 1;
    const double a = oracle_.attention_factor(band_precision).upper();
    const auto error_at = [&](std::int64_t position) {
      return budget_
          .pair_bound(oracle_.attention_factor(band_precision),
                      oracle_.angle(position, pair, spec_.max_position, band_precision), pair)
          .upper();
    };
    const double first_error = error_at(positions[0]);
    Measured found{0, 4};
    for (std::size_t token = 1; token < positions.size(); ++token) {
      const double cosine = value(token, at.first) * value(0, at.first) + value(token, at.second) * value(0, at.second);
      const double sine = value(token, at.second) * value(0, at.first) - value(token, at.first) * value(0, at.second);
      if (!std::isfinite(cosine) || !std::isfinite(sine)) return std::nullopt;
      const auto step = static_cast<double>(positions[token] - positions[0]);
      const double e = error_at(positions[token]);
      const double error = std::numbers::pi / 2 * (a * (e + first_error) + e * first_error) / (a * a) + 0x1p-48;
      if (token > 1 && found.error * step + error > std::numbers::pi) break;
      const double guess = token == 1 ? 0 : found.frequency * step;
      const double angle = guess + std::remainder(sign * std::atan2(sine, cosine) - guess, 2 * std::numbers::pi);
      if (token == 1 || error / step < found.error) found = {angle / step, error / step};
    }
    const double w = unscaled_[static_cast<std::size_t>(pair)] * encoding_.positions.step;
    return Measured{found.frequency / w, found.error / w + 0x1p-48};
  }

  template <class Describe>
  void judge_excess(Judgement& judgement, double excess, double allowed, Describe describe) const {
    judgement.add(excess <= allowed ? Certainty::yes : Certainty::no,
                  {std::max(excess, 0.0) / allowed, std::max(excess, 0.0), 0}, [&] {
                    return excess <= allowed
                               ? std::string("the scales fall from 1 to 1/factor without a step up or a jump")
                               : describe();
                  });
  }

  Spec spec_;
  Rope encoding_;
  reference::RopeReference oracle_;
  ErrorBudget budget_;
  std::vector<double> unscaled_;
  Blend blend_;
};

// Where the steps begin.
struct Start {
  std::int64_t position;
};

CasesOf<Start> starts() {
  CasesOf<Start> cases;
  cases.fields = [](const Spec& spec) -> std::vector<FieldOf<Start>> {
    return {{"position", FieldRole::position, &Start::position, claimed(spec, 1)}};
  };
  cases.first = [](const Spec& spec) -> std::vector<Start> {
    return {{.position = std::min(gen::simplest_position(gen::range_of(spec)), spec.max_position - 2)}};
  };
  cases.drawn = [](const Spec& spec) {
    return gen::map(gen::position({spec.min_position, spec.max_position - 1}),
                    [](std::int64_t position) { return Start{position}; });
  };
  return cases;
}

std::optional<std::string> no_bands(const Spec& spec, const Rope& rope) {
  if (!std::holds_alternative<YarnScaling>(rope.rope_scaling) &&
      !std::holds_alternative<Llama3Scaling>(rope.rope_scaling)) {
    return fmt::format("rope_type {} has no bands", name_of(rope.rope_scaling));
  }
  return one_position_only(spec);
}

}  // namespace

Property band_blend_property() {
  Property property;
  property.id = "band_blend";
  property.explanation = {
      "a rule by bands scales slower pairs at least as much as faster ones, without a jump at a band's border",
      "r_i = w'_i/w_i: 1/s <= r_i <= 1, r_(i+1) <= r_i, and r_i - r_(i+1) <= (1 - 1/s) |v_(i+1) - v_i| / (v_high - "
      "v_low), v the ramp's variable: turns within L "
      "for llama3, the pair's number for yarn",
      "Peng et al. 2023, section 3.2, with the deployed ramp; Meta's released Llama 3.1 code: a clamped linear ramp "
      "between 1 and 1/s",
      "rope under yarn or llama3",
      "frequencies are measured, whatever is claimed, from points at steps of 1, 4, 16, ...: two points each within e "
      "of their circle give an angle "
      "within (pi/2) (a (e + e') + e e')/a^2, that over the step the frequency, its error over w_i that of r_i; "
      "comparisons allow the sum of both",
      "a blend with its weights exchanged, borders that do not meet, a middle band left out, bands by another "
      "variable, a rule dropped for some pairs"};
  property.not_applicable = stated_for<Rope>(no_bands);
  use_cases(property, starts(), of<Rope>([](const Spec& spec, const Rope& encoding) {
              return [bands = Bands(spec, encoding)](Session& session, const Start& start) mutable {
                return bands.judge(session, start.position);
              };
            }));
  return property;
}

}  // namespace sextant
