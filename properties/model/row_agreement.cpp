#include "properties/model/row_agreement.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <utility>

#include "properties/gen/values.hpp"
#include "reference/integer.hpp"
#include "reference/rounding.hpp"
#include "subjects/operations.hpp"

namespace sextant {
namespace {

using reference::Certainty;
using reference::Enclosure;
using reference::Precision;

std::string place_text(std::span<const std::int64_t> place, std::int64_t channel) {
  return fmt::format("position {}, channel {}", fmt::join(place, "/"), channel);
}

// One channel of the two rows; bound_at(precision) is what they may differ by, of a value of norm norm_at(precision).
template <class BoundAt, class NormAt>
void compare_channel(Judgement& judgement, Dtype dtype, double a, double b, std::span<const std::int64_t> position,
                     std::int64_t channel, BoundAt bound_at, NormAt norm_at) {
  const auto place = [&] { return place_text(position, channel); };
  if (std::isnan(a) != std::isnan(b) || (std::isinf(a) || std::isinf(b))) {
    judgement.add(Certainty::no, not_finite(),
                  [&] { return fmt::format("{}: {} in one call, {} in the other", place(), a, b); });
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
    return fmt::format("{}: {} in one call, {} in the other: {:.3g} times the bound", place(), value_text(dtype, a),
                       value_text(dtype, b), deviation.of_bound);
  });
}

// The pair of x that is turned.
reference::RealPair pair_at(const RowOf& x, const Channels& channels, Precision precision) {
  return {Enclosure(x.tensor.at(x.start + channels.first), precision),
          Enclosure(x.tensor.at(x.start + channels.second), precision)};
}

}  // namespace

RowAgreement::Oracle RowAgreement::oracle_of(const Spec& spec) {
  if (const auto* count = std::get_if<Integer>(&spec.encoding)) return Count{*count};
  if (const auto* sinusoidal = std::get_if<Sinusoidal>(&spec.encoding)) {
    const reference::SinusoidalReference oracle(*sinusoidal);
    return Sine{oracle, ErrorBudget(spec.accuracy, spec.dtype, oracle.frequencies(), pairs(*sinusoidal))};
  }
  if (const auto* grid = std::get_if<Sinusoidal2d>(&spec.encoding)) {
    const reference::Sinusoidal2dReference oracle(*grid);
    return Grid{oracle, ErrorBudget(spec.accuracy, spec.dtype, oracle.frequencies(), pairs(*grid))};
  }
  if (const auto* rope = std::get_if<Rope>(&spec.encoding)) {
    const reference::RopeReference oracle(*rope);
    return Rotary{oracle, ErrorBudget(spec.accuracy, spec.dtype, oracle.frequencies(), spec.max_position)};
  }
  if (const auto* axial = std::get_if<RopeNd>(&spec.encoding)) {
    const reference::RopeNdReference oracle(*axial);
    return Axial{oracle, ErrorBudget(spec.accuracy, spec.dtype, oracle.frequencies(), spec.max_position)};
  }
  if (const auto* xpos = std::get_if<Xpos>(&spec.encoding))
    return Scaled{XposBudget(*xpos, spec.dtype, spec.accuracy, spec.max_position)};
  return Exact{};
}

RowAgreement::RowAgreement(const Spec& spec) : spec_(spec), oracle_(oracle_of(spec)) {}

template <class AllowanceAt>
void RowAgreement::compare_pair(Judgement& judgement, const RowOf& one, const RowOf& other,
                                std::span<const std::int64_t> place, const Channels& channels,
                                AllowanceAt allowance_at) const {
  for (const std::int64_t channel : {channels.first, channels.second}) {
    compare_channel(
        judgement, spec_.dtype, one.tensor.at(one.start + channel), other.tensor.at(other.start + channel), place,
        channel, [&](Precision precision) { return Enclosure(2.0, precision) * allowance_at(precision).bound; },
        [&](Precision precision) { return allowance_at(precision).norm; });
  }
}

void RowAgreement::compare_exactly(Judgement& judgement, const RowOf& one, const RowOf& other,
                                   std::span<const std::int64_t> place, std::int64_t channel) const {
  const double a = one.tensor.at(one.start + channel);
  const double b = other.tensor.at(other.start + channel);
  const bool same = a == b || (std::isnan(a) && std::isnan(b));
  judgement.add_exact(same
                          ? std::nullopt
                          : std::optional(fmt::format("{}: {} in one call, {} in the other", place_text(place, channel),
                                                      value_text(spec_.dtype, a), value_text(spec_.dtype, b))),
                      [] { return "the same in both calls"; });
}

template <class AllowanceOf>
void RowAgreement::compare_turned(Judgement& judgement, const RowOf& one, const RowOf& other,
                                  std::span<const std::int64_t> place, const Rope& head,
                                  AllowanceOf allowance_of) const {
  for (std::int64_t pair = 0; pair < pairs(head); ++pair) {
    compare_pair(judgement, one, other, place, channels_of_pair(head, head.output_pairing, pair),
                 [&](Precision precision) { return allowance_of(pair, precision); });
  }
  for (const Passthrough& untouched : passthrough_channels(head))
    compare_exactly(judgement, one, other, place, untouched.output);
}

void RowAgreement::compare(Judgement& judgement, const RowOf& one, const RowOf& other,
                           std::span<const std::int64_t> place, const RowOf* x) {
  if (auto* sine = std::get_if<Sine>(&oracle_)) {
    for (std::int64_t pair = 0; pair < pairs(sine->oracle.encoding()); ++pair) {
      compare_pair(judgement, one, other, place, channels_of_pair(sine->oracle.encoding(), pair),
                   [&](Precision precision) -> Allowance {
                     const Enclosure norm = abs(Enclosure(sine->oracle.encoding().scale, precision));
                     return {sine->budget.pair_bound(norm, sine->oracle.angle(place[0], pair, precision), pair), norm};
                   });
    }
  } else if (auto* grid = std::get_if<Grid>(&oracle_)) {
    for (const GridAxis axis : {GridAxis::height, GridAxis::width}) {
      for (std::int64_t pair = 0; pair < pairs(grid->oracle.encoding()); ++pair) {
        compare_pair(judgement, one, other, place, channels_of_pair(grid->oracle.encoding(), axis, pair),
                     [&](Precision precision) -> Allowance {
                       const Enclosure norm(1.0, precision);
                       return {
                           grid->budget.pair_bound(
                               norm, grid->oracle.rotation({place[0], place[1]}, axis, pair, precision).angle, pair),
                           norm};
                     });
      }
    }
  } else if (auto* rotary = std::get_if<Rotary>(&oracle_)) {
    const Rope& head = rotary->oracle.encoding();
    compare_turned(judgement, one, other, place, head, [&](std::int64_t pair, Precision precision) -> Allowance {
      const reference::RealPair given = pair_at(*x, channels_of_pair(head, head.pairing, pair), precision);
      const Enclosure norm = rotary->oracle.attention_factor(precision) * hypot(given.first, given.second);
      return {
          rotary->budget.pair_bound(norm, rotary->oracle.angle(place[0], pair, spec_.max_position, precision), pair),
          norm};
    });
  } else if (auto* axial = std::get_if<Axial>(&oracle_)) {
    const Rope head = along_diagonal(axial->oracle.encoding());
    compare_turned(judgement, one, other, place, head, [&](std::int64_t pair, Precision precision) -> Allowance {
      const reference::RealPair given = pair_at(*x, channels_of_pair(head, head.pairing, pair), precision);
      const Enclosure norm = hypot(given.first, given.second);
      return {axial->budget.pair_bound(norm, axial->oracle.rotation(place, pair, precision).angle, pair), norm};
    });
  } else if (auto* scaled = std::get_if<Scaled>(&oracle_)) {
    const Rope& head = scaled->oracle.encoding().rope;
    for (std::int64_t pair = 0; pair < pairs(head); ++pair) {
      const auto expected = [&](Precision precision) {
        return scaled->oracle.at(place[0], pair, pair_at(*x, channels_of_pair(head, head.pairing, pair), precision),
                                 precision);
      };
      const Channels channels = channels_of_pair(head, head.output_pairing, pair);
      const auto agrees = [&](std::int64_t channel) {
        const double value = one.tensor.at(one.start + channel);
        return std::isfinite(value) && value == other.tensor.at(other.start + channel);
      };
      // What is equal needs no oracle; what the dtype cannot hold may differ.
      if (!(agrees(channels.first) && agrees(channels.second)) && !expected(reference::first_precision).representable)
        continue;
      compare_pair(judgement, one, other, place, channels, [&](Precision precision) -> Allowance {
        XposBudget::Pair allowed = expected(precision);
        return {std::move(allowed.pair_bound), std::move(allowed.norm)};
      });
    }
    for (const Passthrough& untouched : passthrough_channels(head))
      compare_exactly(judgement, one, other, place, untouched.output);
    if (judgement.finding.empty()) judgement.add_exact(std::nullopt, [] { return "nothing that the dtype can hold"; });
  } else if (const auto* count = std::get_if<Count>(&oracle_)) {
    const bool infinite =
        !count->encoding.normalize && std::isinf(round_to(spec_.dtype, static_cast<double>(place[0])));
    for (std::int64_t channel = 0; channel < count->encoding.dim; ++channel) {
      if (infinite) {
        compare_exactly(judgement, one, other, place, channel);
        continue;
      }
      const auto exact = [&](Precision precision) {
        return reference::code(count->encoding, spec_.max_position, place[0], precision);
      };
      compare_channel(
          judgement, spec_.dtype, one.tensor.at(one.start + channel), other.tensor.at(other.start + channel), place,
          channel,
          [&](Precision precision) {
            return Enclosure(count->encoding.normalize ? 4.0 : 2.0, precision) *
                   reference::ulp(spec_.dtype, exact(precision));
          },
          exact);
    }
  } else {
    for (std::int64_t channel = 0; channel < row_width(spec_); ++channel)
      compare_exactly(judgement, one, other, place, channel);
  }
}

bool is_code(const Spec& spec) { return width_of(spec.encoding).has_value(); }

bool is_rotation(const Spec& spec) {
  return std::holds_alternative<Rope>(spec.encoding) || std::holds_alternative<RopeNd>(spec.encoding) ||
         std::holds_alternative<Xpos>(spec.encoding);
}

std::int64_t row_width(const Spec& spec) {
  if (const auto width = width_of(spec.encoding)) return *width;
  if (const auto* rope = std::get_if<Rope>(&spec.encoding)) return rope->head_dim;
  if (const auto* axial = std::get_if<RopeNd>(&spec.encoding)) return axial->head_dim;
  return std::get<Xpos>(spec.encoding).rope.head_dim;
}

std::vector<std::int64_t> place_at(std::span<const std::int64_t> positions, std::int64_t count, std::int64_t i) {
  std::vector<std::int64_t> place;
  for (; i < std::ssize(positions); i += count) place.push_back(positions[static_cast<std::size_t>(i)]);
  return place;
}

Tensor ask_codes(Session& session, const Spec& spec, std::span<const std::int64_t> positions, std::int64_t fill) {
  const auto* learned = std::get_if<Learned>(&spec.encoding);
  if (learned == nullptr) return encode(session, spec, positions);
  return encode(session, spec, positions, gen::values(spec.dtype, {learned->max_positions, learned->dim}, fill + 1));
}

std::optional<std::string> depends_on_length(const Spec& spec) {
  const auto* rope = std::get_if<Rope>(&spec.encoding);
  if (const auto* attention = std::get_if<Attention>(&spec.encoding); attention != nullptr && attention->position)
    rope = std::get_if<Rope>(&*attention->position);
  if (rope == nullptr) return std::nullopt;
  // Up to that length every call has the same frequencies.
  const auto limit = length_limit(rope->rope_scaling);
  if (!limit || spec.max_position <= *limit) return std::nullopt;
  return fmt::format("depends on the length of the call: {} has other frequencies beyond {}",
                     name_of(rope->rope_scaling), *limit);
}

}  // namespace sextant
