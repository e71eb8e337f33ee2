#include <fmt/format.h>

#include <cmath>

#include "properties/catalogue.hpp"
#include "properties/engine/typed_cases.hpp"
#include "properties/gen/position.hpp"
#include "properties/gen/vectors.hpp"
#include "properties/model/budget.hpp"
#include "properties/model/family.hpp"
#include "reference/rope.hpp"
#include "reference/rounding.hpp"
#include "subjects/operations.hpp"

namespace sextant {
namespace {

using reference::Certainty;
using reference::Enclosure;
using reference::Precision;

// One batch row.
struct Row {
  std::int64_t position;
  std::int64_t tokens;
  std::int64_t heads;
  std::int64_t fill;
};

CasesOf<Row> rows() {
  CasesOf<Row> cases;
  cases.fields = [](const Spec& spec) -> std::vector<FieldOf<Row>> {
    return {{"position", FieldRole::position, &Row::position, claimed(spec)},
            {"tokens", FieldRole::run, &Row::tokens, {1, 64}},
            {"heads", FieldRole::count, &Row::heads, {1, 64}},
            {"fill", FieldRole::fill, &Row::fill, any_fill}};
  };
  cases.first = [](const Spec& spec) -> std::vector<Row> {
    return {{.position = gen::simplest_position(gen::range_of(spec)), .tokens = 1, .heads = 1, .fill = 1},
            {.position = spec.max_position - 1, .tokens = 1, .heads = 1, .fill = 1}};
  };
  cases.drawn = [](const Spec& spec) {
    const auto parts = rc::gen::tuple(gen::position(gen::range_of(spec)), gen::one_of({1, 3, 5}),
                                      gen::one_of({1, 2, 4}), gen::count(0, 1000));
    return rc::gen::map(
        parts, [](const auto& drawn) { return std::apply([](auto... value) { return Row{value...}; }, drawn); });
  };
  return cases;
}

CheckOf<Row> make_check(const Spec& spec, const Rope& encoding) {
  reference::RopeReference oracle(encoding);
  const ErrorBudget budget(spec.accuracy, spec.dtype, oracle.frequencies(), spec.max_position);
  return [spec, encoding, oracle, budget](Session& session, const Row& row) mutable {
    const gen::Extents extents{.batch = 1, .tokens = row.tokens, .heads = row.heads};
    const Tensor x = gen::vectors(encoding, spec.dtype, extents, row.fill);
    const std::vector<std::int64_t> positions = gen::positions(gen::range_of(spec), row.position, extents);
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
  property.not_applicable = stated_for<Rope>(elsewhere_for<Sinusoidal>("a property of rotations"));
  use_cases(property, rows(), of<Rope>(make_check));
  return property;
}

}  // namespace sextant
