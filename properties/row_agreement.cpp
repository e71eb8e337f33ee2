#include "properties/row_agreement.hpp"

#include <fmt/format.h>

#include <cmath>

#include "reference/rounding.hpp"

namespace sextant {
namespace {

using reference::Certainty;
using reference::Enclosure;
using reference::Precision;

// One channel of the two rows; bound_at(precision) is what they may differ by, of a value of norm norm_at(precision).
template <class BoundAt, class NormAt>
void compare_channel(Judgement& judgement, Dtype dtype, double a, double b, std::int64_t position, std::int64_t channel, BoundAt bound_at, NormAt norm_at) {
  const auto place = [&] { return fmt::format("position {}, channel {}", position, channel); };
  if (std::isnan(a) != std::isnan(b) || (std::isinf(a) || std::isinf(b))) {
    judgement.add(Certainty::no, not_finite(), [&] { return fmt::format("{}: {} in one call, {} in the other", place(), a, b); });
    return;
  }
  if (a == b || std::isnan(a)) {
    judgement.add(Certainty::yes, {}, [&] { return place() + ": the same value in both calls"; });
    return;
  }
  Deviation deviation;
  const Certainty within = reference::decide([&](Precision precision) {
    const Enclosure error = abs(Enclosure(a, precision) - Enclosure(b, precision));
    const Enclosure bound = bound_at(precision);
    deviation = deviation_of(error, bound, reference::ulp(dtype, norm_at(precision)).upper());
    return reference::at_most(error, bound);
  });
  judgement.add(within, deviation, [&] {
    return fmt::format("{}: {} in one call, {} in the other: {:.3g} times the bound", place(), value_text(dtype, a), value_text(dtype, b), deviation.of_bound);
  });
}

}  // namespace

RowAgreement::Oracle RowAgreement::oracle_of(const Spec& spec) {
  if (const auto* sinusoidal = std::get_if<Sinusoidal>(&spec.encoding)) return Sine{*sinusoidal, reference::SinusoidalReference(*sinusoidal)};
  const auto& rope = std::get<Rope>(spec.encoding);
  return Rotary{rope, reference::RopeReference(rope)};
}

ErrorBudget RowAgreement::budget_of(const Spec& spec, const Oracle& oracle) {
  if (const auto* sine = std::get_if<Sine>(&oracle)) return {spec.accuracy, spec.dtype, sine->oracle.frequencies(), pairs(sine->encoding)};
  return {spec.accuracy, spec.dtype, std::get<Rotary>(oracle).oracle.frequencies(), spec.max_position};
}

RowAgreement::RowAgreement(const Spec& spec) : spec_(spec), oracle_(oracle_of(spec)), budget_(budget_of(spec, oracle_)) {}

void RowAgreement::compare(Judgement& judgement, const RowOf& one, const RowOf& other, std::int64_t position, const RowOf* x) {
  const auto compare_pair = [&](const Channels& channels, std::int64_t pair, auto angle_at, auto norm_at) {
    const auto bound_at = [&](Precision precision) { return Enclosure(2.0, precision) * budget_.pair_bound(norm_at(precision), angle_at(precision), pair); };
    for (const std::int64_t channel : {channels.first, channels.second}) {
      compare_channel(judgement, spec_.dtype, one.tensor.at(one.start + channel), other.tensor.at(other.start + channel), position, channel, bound_at, norm_at);
    }
  };
  if (auto* sine = std::get_if<Sine>(&oracle_)) {
    for (std::int64_t pair = 0; pair < pairs(sine->encoding); ++pair) {
      compare_pair(
          channels_of_pair(sine->encoding, pair), pair, [&](Precision precision) { return sine->oracle.angle(position, pair, precision); },
          [&](Precision precision) { return abs(Enclosure(sine->encoding.scale, precision)); });
    }
    return;
  }
  auto& rotary = std::get<Rotary>(oracle_);
  for (std::int64_t pair = 0; pair < pairs(rotary.encoding); ++pair) {
    const Channels from = channels_of_pair(rotary.encoding, rotary.encoding.pairing, pair);
    compare_pair(
        channels_of_pair(rotary.encoding, rotary.encoding.output_pairing, pair), pair,
        [&](Precision precision) { return rotary.oracle.angle(position, pair, spec_.max_position, precision); },
        [&](Precision precision) {
          return rotary.oracle.attention_factor(precision) *
                 hypot(Enclosure(x->tensor.at(x->start + from.first), precision), Enclosure(x->tensor.at(x->start + from.second), precision));
        });
  }
  for (const Passthrough& untouched : passthrough_channels(rotary.encoding)) {
    const double a = one.tensor.at(one.start + untouched.output);
    const double b = other.tensor.at(other.start + untouched.output);
    const bool same = a == b || (std::isnan(a) && std::isnan(b));
    judgement.add_exact(same ? std::nullopt : std::optional(fmt::format("position {}, channel {}, not rotated: {} in one call, {} in the other", position, untouched.output, a, b)),
                        [] { return "the same in both calls"; });
  }
}

std::optional<std::string> depends_on_length(const Spec& spec) {
  const auto* rope = std::get_if<Rope>(&spec.encoding);
  if (rope == nullptr) return std::nullopt;
  // Up to that length every call has the same frequencies.
  const auto limit = length_limit(rope->rope_scaling);
  if (!limit || spec.max_position <= *limit) return std::nullopt;
  return fmt::format("depends on the length of the call: {} has other frequencies beyond {}", name_of(rope->rope_scaling), *limit);
}

}  // namespace sextant
