#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "properties/budget.hpp"
#include "properties/catalogue.hpp"
#include "properties/gen/position.hpp"
#include "reference/sinusoidal.hpp"
#include "subjects/operations.hpp"

namespace sextant {
namespace {

using reference::Enclosure;
using reference::Precision;

constexpr Precision telling{96};

Check make_check(const Spec& spec) {
  const auto& encoding = std::get<Sinusoidal>(spec.encoding);
  reference::SinusoidalReference oracle(encoding);
  const ErrorBudget budget(spec.accuracy, spec.dtype, oracle.frequencies(), pairs(encoding));
  return [spec, encoding, oracle, budget](Session& session, const Case& values) mutable {
    std::vector<std::int64_t> positions = gen::consecutive(values[0], values[2]);
    const std::vector<std::int64_t> others = gen::consecutive(values[1], values[2]);
    positions.insert(positions.end(), others.begin(), others.end());
    std::sort(positions.begin(), positions.end());
    positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
    const Tensor table = encode(session, spec, positions);
    const std::size_t row_bytes = table.data.size() / positions.size();

    // How far apart the claim lets the codes of p and q be told in one channel: |PE(p) - PE(q)| less what each may be off.
    const auto certainly_apart = [&](std::int64_t p, std::int64_t q) {
      for (std::int64_t pair = 0; pair < pairs(encoding); ++pair) {
        const Enclosure scale(encoding.scale, telling);
        const reference::Rotation at_p = oracle.rotation(p, pair, telling);
        const reference::Rotation at_q = oracle.rotation(q, pair, telling);
        const auto bound = [&](const reference::Rotation& at, bool sine) {
          return sine ? budget.element_bound(scale * at.sin, scale * at.cos, scale, at.angle, pair)
                      : budget.element_bound(scale * at.cos, scale * at.sin, scale, at.angle, pair);
        };
        for (const bool sine : {true, false}) {
          const Enclosure distance = abs(scale * (sine ? at_p.sin - at_q.sin : at_p.cos - at_q.cos));
          if (certainly_above(distance, bound(at_p, sine) + bound(at_q, sine))) return true;
        }
      }
      return false;
    };

    Judgement judgement;
    judgement.add_exact(std::nullopt, [&] { return fmt::format("{} positions, all codes different", positions.size()); });
    for (std::size_t a = 0; a < positions.size(); ++a) {
      for (std::size_t b = a + 1; b < positions.size(); ++b) {
        if (std::memcmp(table.data.data() + a * row_bytes, table.data.data() + b * row_bytes, row_bytes) != 0) continue;
        if (!certainly_apart(positions[a], positions[b])) continue;
        judgement.add_exact(fmt::format("positions {} and {} have the same code", positions[a], positions[b]), [] { return ""; });
        return judgement;
      }
    }
    return judgement;
  };
}

}  // namespace

Property uniqueness_property() {
  Property property;
  property.id = "uniqueness";
  property.explanation = {"distinct positions have distinct codes",
                          "PE(p) != PE(q) for p != q, wherever the claimed accuracy tells the two apart",
                          "w_0 = 1 and pi is irrational, so no two integers differ by a whole number of turns (Vaswani et al. 2017, section 3.5)",
                          "sinusoidal",
                          "two rows of equal bits count as a violation only where some channel's true values differ by more than the sum of the two bounds of "
                          "properties/budget.hpp, so that no implementation within its class can show them",
                          "positions of low precision, clamped or wrapped ones, one row for all, tables repeated beyond their end"};
  property.fields = [](const Spec&) { return std::vector<std::string>{"position", "other_position", "rows"}; };
  property.not_applicable = [](const Spec& spec) -> std::optional<std::string> {
    if (!std::holds_alternative<Sinusoidal>(spec.encoding)) return not_stated_for(spec);
    if (spec.max_position - spec.min_position < 2) return "the claim has one position only";
    return std::nullopt;
  };
  property.admits = [](const Spec& spec, const Case& values) {
    const auto inside = [&](std::int64_t p) { return p >= spec.min_position && p <= spec.max_position - values[2]; };
    return values[2] >= 1 && values[2] <= 64 && inside(values[0]) && inside(values[1]);
  };
  property.simplest = [](const Spec& spec) {
    const std::int64_t p = gen::simplest_position(gen::range_of(spec));
    return Case{p, p, 1};
  };
  property.first_cases = [](const Spec& spec) {
    const std::int64_t rows = std::min<std::int64_t>(64, spec.max_position - spec.min_position);
    return std::vector<Case>{{std::min(gen::simplest_position(gen::range_of(spec)), spec.max_position - rows), spec.max_position - rows, rows}};
  };
  property.cases = [](const Spec& spec) {
    const std::int64_t rows = std::min<std::int64_t>(32, spec.max_position - spec.min_position);
    const gen::PositionRange starts{spec.min_position, spec.max_position - rows + 1};
    return rc::gen::map(rc::gen::pair(gen::position(starts), gen::position(starts)),
                        [rows](const std::pair<std::int64_t, std::int64_t>& drawn) { return Case{drawn.first, drawn.second, rows}; });
  };
  property.make_check = make_check;
  return property;
}

}  // namespace sextant
