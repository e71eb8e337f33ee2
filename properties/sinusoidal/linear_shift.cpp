#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "properties/catalogue.hpp"
#include "properties/engine/typed_cases.hpp"
#include "properties/gen/draw.hpp"
#include "properties/gen/position.hpp"
#include "properties/model/budget.hpp"
#include "properties/model/family.hpp"
#include "properties/model/model.hpp"
#include "properties/verdict/bound_text.hpp"
#include "reference/rounding.hpp"

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
    const auto parts = gen::pair(gen::position(starts), gen::position({1, spec.max_position - spec.min_position}));
    return gen::map(parts, [last = spec.max_position](const std::pair<std::int64_t, std::int64_t>& drawn) {
      return Move{.position = drawn.first, .offset = 1 + (drawn.second - 1) % (last - 1 - drawn.first)};
    });
  };
  return cases;
}

CheckOf<Move> linear_shift_check(const Spec& spec) {
  const std::shared_ptr<EncodedPairs> pairs = model_of(spec)->encoded_pairs();
  const ErrorBudget budget = pairs->budget(spec.accuracy);
  return [spec, pairs, budget, grid = position_grid_of(spec.encoding)](Session& session, const Move& move) {
    const std::int64_t position = move.position;
    const std::int64_t offset = move.offset;
    const Rows rows = pairs->ask(session, {position, position + offset});
    Judgement judgement;
    for (std::int64_t pair = 0; pair < pairs->count(); ++pair) {
      const PairValues& here = rows[0][static_cast<std::size_t>(pair)];
      const PairValues& there = rows[1][static_cast<std::size_t>(pair)];
      const auto place = [&] {
        return fmt::format("position {}, offset {}, frequency {}", grid.text(position), grid.text(offset), pair);
      };
      if (!std::isfinite(here.sin) || !std::isfinite(here.cos) || !std::isfinite(there.sin) ||
          !std::isfinite(there.cos)) {
        judgement.add(Certainty::no, not_finite(), [&] { return place() + ": a value is NaN or infinite"; });
        continue;
      }
      Deviation deviation;
      const Certainty within = reference::decide([&](Precision precision) {
        const Enclosure norm = pairs->radius(precision);
        // Copies: each call may reuse the object of the one before.
        const reference::Rotation shift = pairs->advance(offset, pair, precision);
        const Enclosure from_angle = pairs->angle(position, pair, precision);
        const Enclosure to_angle = pairs->angle(position + offset, pair, precision);
        const Enclosure s(here.sin, precision);
        const Enclosure c(here.cos, precision);
        const Enclosure error = hypot(Enclosure(there.sin, precision) - (s * shift.cos + c * shift.sin),
                                      Enclosure(there.cos, precision) - (c * shift.cos - s * shift.sin));
        const Enclosure bound = budget.pair_bound(norm, from_angle, pair) + budget.pair_bound(norm, to_angle, pair);
        deviation = deviation_of(error, bound, reference::ulp(spec.dtype, norm).upper());
        return reference::at_most(error, bound);
      });
      judgement.add(within, deviation, [&] {
        return fmt::format("{}: PE(p+k) is {:.3g} away from R(k) PE(p) = {:.3g} ULP, {}", place(), deviation.absolute,
                           deviation.ulps, bound_text(deviation.of_bound));
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
      "sinusoidal, rotary_table",
      "each of the two pairs is within E(p) = sqrt(2) k ulp(scale) + min(d, 2) scale (of a table the attention factor) "
      "of its true value in Euclidean "
      "norm "
      "(properties/model/budget.hpp), and R(k) keeps distances, so |PE(p+k) - R(k) PE(p)| <= E(p) + E(p+k)",
      "a pair whose sine and cosine turn at different frequencies or swap places, positions that collide, a shifted "
      "row"};
  property.not_applicable = stated_for<Sinusoidal, RotaryTable>(
      one_position_only, elsewhere_for<Rope>("a property of additive codes: see relative_offset"));
  use_cases(property, moves(), linear_shift_check);
  return property;
}

}  // namespace sextant
