#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "properties/catalogue.hpp"
#include "properties/engine/typed_cases.hpp"
#include "properties/gen/position.hpp"
#include "properties/model/budget.hpp"
#include "properties/model/family.hpp"
#include "reference/rounding.hpp"
#include "reference/sinusoidal.hpp"
#include "subjects/operations.hpp"

namespace sextant {
namespace {

using reference::Certainty;
using reference::Enclosure;
using reference::Precision;

// Two positions of the claim, the nearer first.
struct Move {
  std::int64_t position;
  std::int64_t offset;
};

CasesOf<Move> moves() {
  CasesOf<Move> cases;
  cases.fields = [](const Spec& spec) -> std::vector<FieldOf<Move>> {
    return {{"position", FieldRole::position, &Move::position, claimed(spec)},
            {"offset", FieldRole::step, &Move::offset, {1, spec.max_position - 1 - spec.min_position}}};
  };
  cases.related = [](const Spec& spec, const Move& move) { return move.offset < spec.max_position - move.position; };
  cases.first = [](const Spec& spec) -> std::vector<Move> {
    return {{.position = std::min(gen::simplest_position(gen::range_of(spec)), spec.max_position - 2), .offset = 1},
            {.position = spec.min_position, .offset = spec.max_position - 1 - spec.min_position},
            {.position = spec.max_position - 2, .offset = 1}};
  };
  cases.drawn = [](const Spec& spec) {
    // Offsets come in every size and both ends are reached.
    const gen::PositionRange starts{spec.min_position, spec.max_position - 1};
    const auto parts = rc::gen::pair(gen::position(starts), gen::position({1, spec.max_position - spec.min_position}));
    return rc::gen::map(parts, [last = spec.max_position](const std::pair<std::int64_t, std::int64_t>& drawn) {
      return Move{.position = drawn.first, .offset = 1 + (drawn.second - 1) % (last - 1 - drawn.first)};
    });
  };
  return cases;
}

CheckOf<Move> make_check(const Spec& spec, const Sinusoidal& encoding) {
  reference::SinusoidalReference oracle(encoding);
  const ErrorBudget budget(arithmetic_of(spec), oracle.frequencies(), pairs(encoding));
  return [spec, encoding, oracle, budget](Session& session, const Move& move) mutable {
    const std::int64_t position = move.position;
    const std::int64_t offset = move.offset;
    const Tensor table = encode(session, spec, std::vector<std::int64_t>{position, position + offset});
    Judgement judgement;
    for (std::int64_t pair = 0; pair < pairs(encoding); ++pair) {
      const Channels channels = channels_of_pair(encoding, pair);
      const double sine = table.at(channels.first);
      const double cosine = table.at(channels.second);
      const double later_sine = table.at(encoding.dim + channels.first);
      const double later_cosine = table.at(encoding.dim + channels.second);
      const auto place = [&] {
        return fmt::format("position {}, offset {}, frequency {}", encoding.positions.text(position),
                           encoding.positions.text(offset), pair);
      };
      if (!std::isfinite(sine) || !std::isfinite(cosine) || !std::isfinite(later_sine) ||
          !std::isfinite(later_cosine)) {
        judgement.add(Certainty::no, not_finite(), [&] { return place() + ": a value is NaN or infinite"; });
        continue;
      }
      Deviation deviation;
      const Certainty within = reference::decide([&](Precision precision) {
        const Enclosure norm = abs(Enclosure(encoding.scale, precision));
        // Copies: each call may reuse the object of the one before.
        const reference::Rotation shift = oracle.shift(offset, pair, precision);
        const Enclosure from_angle = oracle.angle(position, pair, precision);
        const Enclosure to_angle = oracle.angle(position + offset, pair, precision);
        const Enclosure s(sine, precision);
        const Enclosure c(cosine, precision);
        const Enclosure error = hypot(Enclosure(later_sine, precision) - (s * shift.cos + c * shift.sin),
                                      Enclosure(later_cosine, precision) - (c * shift.cos - s * shift.sin));
        const Enclosure bound = budget.pair_bound(norm, from_angle, pair) + budget.pair_bound(norm, to_angle, pair);
        deviation = deviation_of(error, bound, reference::ulp(spec.dtype, norm).upper());
        return reference::at_most(error, bound);
      });
      judgement.add(within, deviation, [&] {
        return fmt::format("{}: PE(p+k) is {:.3g} away from R(k) PE(p) = {:.3g} ULP, {:.3g} times the bound", place(),
                           deviation.absolute, deviation.ulps, deviation.of_bound);
      });
    }
    return judgement;
  };
}

}  // namespace

Property linear_shift_property() {
  Property property;
  property.id = "linear_shift";
  property.explanation = {
      "moving by k positions is the same rotation from every position",
      "PE(p + k) = R(k) PE(p): each (sin, cos) pair turns by the angle k w_i",
      "Vaswani et al. 2017, section 3.5: \"PE(pos+k) can be represented as a linear function of PE(pos)\"",
      "sinusoidal",
      "each of the two pairs is within E(p) = sqrt(2) k ulp(scale) + min(d, 2) scale of its true value in Euclidean "
      "norm "
      "(properties/model/budget.hpp), and R(k) keeps distances, so |PE(p+k) - R(k) PE(p)| <= E(p) + E(p+k)",
      "a pair whose sine and cosine turn at different frequencies or swap places, positions that collide, a shifted "
      "row"};
  property.not_applicable = stated_for<Sinusoidal>(
      one_position_only, elsewhere_for<Rope>("a property of additive codes: see relative_offset"));
  use_cases(property, moves(), of<Sinusoidal>(make_check));
  return property;
}

}  // namespace sextant
