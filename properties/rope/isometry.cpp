#include <fmt/format.h>

#include <cmath>

#include "properties/catalogue.hpp"
#include "properties/gen/position.hpp"
#include "properties/gen/vectors.hpp"
#include "properties/model/budget.hpp"
#include "reference/rope.hpp"
#include "reference/rounding.hpp"
#include "subjects/operations.hpp"

namespace sextant {
namespace {

using reference::Certainty;
using reference::Enclosure;
using reference::Precision;

Check make_check(const Spec& spec) {
  const auto& encoding = std::get<Rope>(spec.encoding);
  reference::RopeReference oracle(encoding);
  const ErrorBudget budget(spec.accuracy, spec.dtype, oracle.frequencies(), spec.max_position);
  return [spec, encoding, oracle, budget](Session& session, const Case& values) mutable {
    const gen::Extents extents{.batch = 1, .tokens = values[1], .heads = values[2]};
    const Tensor x = gen::vectors(encoding, spec.dtype, extents, values[3]);
    const std::vector<std::int64_t> positions = gen::positions(gen::range_of(spec), values[0], extents);
    const Tensor y = rotate(session, spec, x, positions);
    Judgement judgement;
    for (std::int64_t vector = 0; vector < extents.tokens * extents.heads; ++vector) {
      const std::int64_t start = vector * encoding.head_dim;
      for (std::int64_t pair = 0; pair < pairs(encoding); ++pair) {
        const Channels from = channels_of_pair(encoding, encoding.pairing, pair);
        const Channels to = channels_of_pair(encoding, encoding.output_pairing, pair);
        const double x0 = x.at(start + from.first);
        const double x1 = x.at(start + from.second);
        const double y0 = y.at(start + to.first);
        const double y1 = y.at(start + to.second);
        const auto place = [&] {
          return fmt::format("position {}, head {}, pair {}",
                             positions[static_cast<std::size_t>(vector / extents.heads)], vector % extents.heads, pair);
        };
        if (!std::isfinite(y0) || !std::isfinite(y1)) {
          judgement.add(Certainty::no, not_finite(), [&] { return place() + ": a value is NaN or infinite"; });
          continue;
        }
        Deviation deviation;
        double before = 0;
        double after = 0;
        const Certainty within = reference::decide([&](Precision precision) {
          const Enclosure norm =
              oracle.attention_factor(precision) * hypot(Enclosure(x0, precision), Enclosure(x1, precision));
          const Enclosure turned = hypot(Enclosure(y0, precision), Enclosure(y1, precision));
          const Enclosure error = abs(turned - norm);
          const Enclosure bound = budget.norm_bound(norm);
          before = norm.upper();
          after = turned.upper();
          deviation = deviation_of(error, bound, reference::ulp(spec.dtype, norm).upper());
          return reference::at_most(error, bound);
        });
        judgement.add(within, deviation, [&] {
          return fmt::format("{}: norm {:.9g}, should be {:.9g}: {:.3g} ULP, {:.3g} times the bound", place(), after,
                             before, deviation.ulps, deviation.of_bound);
        });
      }
    }
    return judgement;
  };
}

}  // namespace

Property isometry_property() {
  Property property;
  property.id = "isometry";
  property.explanation = {
      "a rotation keeps the length of every pair, but for the attention factor",
      "||(a R(p w_i) x)_i|| = a ||x_i|| for every pair i and position p, a the attention factor of rope_scaling (1 "
      "without)",
      "Su et al. 2021, section 3.2.2, equation 15: R is orthogonal",
      "rope",
      "an error of the angle does not touch the norm; each component is within k ulp(a ||x_i||) of a vector "
      "of that length (properties/model/budget.hpp), so the norm is within sqrt(2) k ulp(a ||x_i||)",
      "a table of one pairing applied with the other's rotation, sine and cosine of different angles, "
      "narrow tables, range reduction that leaves [-1, 1], an attention factor left out or applied twice"};
  property.fields = [](const Spec&) { return std::vector<std::string>{"position", "tokens", "heads", "fill"}; };
  property.not_applicable = [](const Spec& spec) -> std::optional<std::string> {
    if (std::holds_alternative<Rope>(spec.encoding)) return std::nullopt;
    if (!std::holds_alternative<Sinusoidal>(spec.encoding)) return not_stated_for(spec);
    return "a property of rotations";
  };
  property.admits = [](const Spec& spec, const Case& values) {
    return values[0] >= spec.min_position && values[0] < spec.max_position && values[1] >= 1 && values[1] <= 64 &&
           values[2] >= 1 && values[2] <= 64 && values[3] >= 0;
  };
  property.simplest = [](const Spec& spec) { return Case{gen::simplest_position(gen::range_of(spec)), 1, 1, 0}; };
  property.first_cases = [](const Spec& spec) {
    return std::vector<Case>{{gen::simplest_position(gen::range_of(spec)), 1, 1, 1}, {spec.max_position - 1, 1, 1, 1}};
  };
  property.cases = [](const Spec& spec) {
    const auto parts = rc::gen::tuple(gen::position(gen::range_of(spec)), gen::one_of({1, 3, 5}),
                                      gen::one_of({1, 2, 4}), gen::count(0, 1000));
    return rc::gen::map(
        parts, [](const auto& drawn) { return std::apply([](auto... value) { return Case{value...}; }, drawn); });
  };
  property.make_check = make_check;
  return property;
}

}  // namespace sextant
