#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <optional>
#include <utility>

#include "lib/numeric/ulp.hpp"
#include "properties/gen/values.hpp"
#include "properties/model/accuracy_of.hpp"
#include "properties/model/budget.hpp"
#include "properties/model/question_cases.hpp"
#include "properties/model/xpos_budget.hpp"
#include "reference/rope_nd.hpp"
#include "reference/rounding.hpp"
#include "subjects/operations.hpp"

// Rotations with more to them than an angle: several axes, or a scale that grows with the position.

namespace sextant {
namespace {

using reference::Certainty;
using reference::Enclosure;
using reference::Precision;
using reference::RealPair;

// The vectors of a call that are judged; the others are asked for all the same. The exact tier costs about a
// millisecond a vector.
constexpr std::int64_t judged_vectors = 6;

// What a pair of one vector must be.
struct Expected {
  RealPair value;
  Enclosure bound;  // on each component
  Enclosure norm;
  bool representable = true;  // whether the dtype can hold it: else it is not judged
};

struct Rotation {
  std::int64_t head_dim;
  std::int64_t axes;
  std::int64_t pairs;
  std::function<Channels(std::int64_t pair)> channels;
  std::vector<Passthrough> untouched;
  std::function<Expected(std::span<const std::int64_t> place, std::int64_t pair, const RealPair& x, Precision)>
      expected;
};

// Positions whose coordinates differ on every axis, [axes, batch, tokens].
std::vector<std::int64_t> positions_of(const Spec& spec, const Question& question, std::int64_t axes) {
  const std::int64_t width = spec.max_position - spec.min_position;
  std::vector<std::int64_t> positions;
  for (std::int64_t axis = 0; axis < axes; ++axis) {
    for (std::int64_t token = 0; token < question.batch * question.tokens; ++token) {
      const std::int64_t start = question.position - spec.min_position;
      positions.push_back(spec.min_position +
                          (start / (1 + axis * (1 + question.fill % 3)) + (token + 1) * (axis + 1) - 1 + axis * 5) %
                              width);
    }
  }
  return positions;
}

Judgement judge(Session& session, const Spec& spec, const Rotation& rotation, const Case& values) {
  const Question question = question_of(values);
  const Tensor x =
      gen::values(spec.dtype, {question.batch, question.tokens, question.heads, rotation.head_dim}, question.fill + 1);
  const std::vector<std::int64_t> positions = positions_of(spec, question, rotation.axes);
  const Tensor y = rotate(session, spec, x, positions);
  const std::int64_t vectors = question.batch * question.tokens * question.heads;
  const std::int64_t step = std::max<std::int64_t>(1, vectors / judged_vectors);
  Judgement judgement;
  for (std::int64_t vector = question.fill % step; vector < vectors; vector += step) {
    const std::int64_t token = vector / question.heads;
    const std::int64_t start = vector * rotation.head_dim;
    std::vector<std::int64_t> place;
    for (std::int64_t axis = 0; axis < rotation.axes; ++axis)
      place.push_back(positions[static_cast<std::size_t>(axis * question.batch * question.tokens + token)]);
    const auto where = [&] {
      return fmt::format("position {}, batch row {}, head {}", fmt::join(place, "/"), token / question.tokens,
                         vector % question.heads);
    };
    for (std::int64_t pair = 0; pair < rotation.pairs; ++pair) {
      const Channels channels = rotation.channels(pair);
      const auto expected_at = [&](Precision precision) {
        const RealPair given{Enclosure(x.at(start + channels.first), precision),
                             Enclosure(x.at(start + channels.second), precision)};
        return rotation.expected(place, pair, given, precision);
      };
      const Expected first = expected_at(reference::first_precision);
      if (!first.representable) continue;
      for (const std::int64_t channel : {channels.first, channels.second}) {
        const double value = y.at(start + channel);
        if (!std::isfinite(value)) {
          judgement.add(Certainty::no, not_finite(),
                        [&] { return fmt::format("{}, channel {}: NaN or infinite", where(), channel); });
          continue;
        }
        Deviation deviation;
        double truth = 0;
        std::optional<Expected> raised;
        const Certainty within = reference::decide([&](Precision precision) {
          const Expected& expected =
              precision.bits == reference::first_precision.bits ? first : raised.emplace(expected_at(precision));
          const Enclosure& exact = channel == channels.first ? expected.value.first : expected.value.second;
          const Enclosure error = abs(Enclosure(value, precision) - exact);
          truth = exact.upper();
          deviation = deviation_of(error, expected.bound, reference::ulp(spec.dtype, expected.norm).upper());
          return reference::at_most(error, expected.bound);
        });
        judgement.add(within, deviation, [&] {
          return fmt::format("{}, channel {}: {}", where(), channel,
                             comparison_text(spec.dtype, value, truth, deviation));
        });
      }
    }
    for (const Passthrough& channel : rotation.untouched) {
      const double given = x.at(start + channel.input);
      const double got = y.at(start + channel.output);
      judgement.add_exact(given == got ? std::nullopt
                                       : std::optional(fmt::format("{}, channel {}, not rotated: {} became {}", where(),
                                                                   channel.output, given, got)),
                          [] { return "equal"; });
    }
  }
  if (judgement.finding.empty()) judgement.add_exact(std::nullopt, [] { return "nothing that the dtype can hold"; });
  return judgement;
}

Check axial_check(const Spec& spec, const RopeNd& encoding) {
  reference::RopeNdReference oracle(encoding);
  const ErrorBudget budget(spec.accuracy, spec.dtype, oracle.frequencies(), spec.max_position);
  const Rope head = oracle.frequencies().encoding();
  return [spec, encoding, head, oracle, budget](Session& session, const Case& values) mutable {
    const Rotation rotation{
        encoding.head_dim,
        axes(encoding),
        pairs(head),
        [&](std::int64_t pair) { return channels_of_pair(head, head.pairing, pair); },
        passthrough_channels(head),
        [&](std::span<const std::int64_t> place, std::int64_t pair, const RealPair& x,
            Precision precision) -> Expected {
          const reference::Rotation& turn = oracle.rotation(place, pair, precision);
          const Enclosure norm = hypot(x.first, x.second);
          return {reference::RopeReference::rotate(turn, x), budget.component_bound(norm, turn.angle, pair), norm};
        }};
    return judge(session, spec, rotation, values);
  };
}

Check xpos_check(const Spec& spec, const Xpos& encoding) {
  return [spec, encoding, oracle = XposBudget(encoding, spec.dtype, spec.accuracy, spec.max_position)](
             Session& session, const Case& values) mutable {
    const Rope& head = encoding.rope;
    const Rotation rotation{head.head_dim,
                            1,
                            pairs(head),
                            [&](std::int64_t pair) { return channels_of_pair(head, head.pairing, pair); },
                            passthrough_channels(head),
                            [&](std::span<const std::int64_t> place, std::int64_t pair, const RealPair& x,
                                Precision precision) -> Expected {
                              XposBudget::Pair expected = oracle.at(place[0], pair, x, precision);
                              return {std::move(expected.value), std::move(expected.component_bound),
                                      std::move(expected.norm), expected.representable};
                            }};
    return judge(session, spec, rotation, values);
  };
}

}  // namespace

Check rotation_accuracy(const Spec& spec) {
  if (const auto* axial = std::get_if<RopeNd>(&spec.encoding)) return axial_check(spec, *axial);
  return xpos_check(spec, std::get<Xpos>(spec.encoding));
}

}  // namespace sextant
