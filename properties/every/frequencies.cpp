#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <variant>

#include "properties/catalogue.hpp"
#include "properties/gen/position.hpp"
#include "properties/gen/vectors.hpp"
#include "properties/model/budget.hpp"
#include "properties/model/row_agreement.hpp"
#include "reference/rope.hpp"
#include "reference/rounding.hpp"
#include "reference/sinusoidal.hpp"
#include "subjects/operations.hpp"

namespace sextant {
namespace {

using reference::Certainty;
using reference::Enclosure;
using reference::Precision;

// A pair's (cos, sin) at one position, as the subject gives it.
struct Point {
  double cos;
  double sin;
};

// The points of two positions, [pairs] each.
struct Points {
  std::vector<Point> here;
  std::vector<Point> there;
};

class Observed {
 public:
  explicit Observed(const Spec& spec) : spec_(spec), oracle_(oracle_of(spec)), budget_(budget_of(spec, oracle_)) {}

  std::int64_t count() const {
    return std::visit([](const auto& oracle) { return pairs(oracle.encoding()); }, oracle_);
  }

  Points points(Session& session, std::int64_t position, std::int64_t step) const {
    const std::vector<std::int64_t> positions{position, position + step};
    Points points;
    if (const auto* sine = std::get_if<reference::SinusoidalReference>(&oracle_)) {
      const Tensor table = encode(session, spec_, positions);
      for (std::int64_t pair = 0; pair < count(); ++pair) {
        const Channels at = channels_of_pair(sine->encoding(), pair);
        points.here.push_back({table.at(at.second), table.at(at.first)});
        points.there.push_back({table.at(sine->encoding().dim + at.second), table.at(sine->encoding().dim + at.first)});
      }
      return points;
    }
    const Rope& encoding = std::get<reference::RopeReference>(oracle_).encoding();
    const Tensor x = gen::vectors(encoding, spec_.dtype, {.batch = 1, .tokens = 2, .heads = 1}, 0);
    const Tensor y = rotate(session, spec_, x, positions);
    for (std::int64_t pair = 0; pair < count(); ++pair) {
      const Channels at = channels_of_pair(encoding, encoding.output_pairing, pair);
      points.here.push_back({y.at(at.first), y.at(at.second)});
      points.there.push_back({y.at(encoding.head_dim + at.first), y.at(encoding.head_dim + at.second)});
    }
    return points;
  }

  // The rotation over `step` positions; the angle at a position; how long the points are.
  reference::Rotation advance(std::int64_t step, std::int64_t pair, Precision precision) {
    if (auto* sine = std::get_if<reference::SinusoidalReference>(&oracle_)) return sine->shift(step, pair, precision);
    return std::get<reference::RopeReference>(oracle_).rotation(step, pair, spec_.max_position, precision);
  }
  Enclosure angle(std::int64_t position, std::int64_t pair, Precision precision) {
    if (auto* sine = std::get_if<reference::SinusoidalReference>(&oracle_))
      return sine->angle(position, pair, precision);
    return std::get<reference::RopeReference>(oracle_).angle(position, pair, spec_.max_position, precision);
  }
  Enclosure radius(Precision precision) {
    if (auto* sine = std::get_if<reference::SinusoidalReference>(&oracle_))
      return abs(Enclosure(sine->encoding().scale, precision));
    return std::get<reference::RopeReference>(oracle_).attention_factor(precision);
  }
  const ErrorBudget& budget() const { return budget_; }

 private:
  using Oracle = std::variant<reference::SinusoidalReference, reference::RopeReference>;

  static Oracle oracle_of(const Spec& spec) {
    if (const auto* sinusoidal = std::get_if<Sinusoidal>(&spec.encoding))
      return reference::SinusoidalReference(*sinusoidal);
    return reference::RopeReference(std::get<Rope>(spec.encoding));
  }
  static ErrorBudget budget_of(const Spec& spec, const Oracle& oracle) {
    if (const auto* sine = std::get_if<reference::SinusoidalReference>(&oracle))
      return {spec.accuracy, spec.dtype, sine->frequencies(), pairs(sine->encoding())};
    return {spec.accuracy, spec.dtype, std::get<reference::RopeReference>(oracle).frequencies(), spec.max_position};
  }

  Spec spec_;
  Oracle oracle_;
  ErrorBudget budget_;
};

// How far a pair turned from one point to the other, in radians per position; the true one is near `claimed`, which
// tells the whole turns.
double measured_frequency(const Point& here, const Point& there, double claimed, std::int64_t step) {
  const double turned =
      std::atan2(there.sin * here.cos - there.cos * here.sin, here.cos * there.cos + here.sin * there.sin);
  return claimed + std::remainder(turned - claimed * static_cast<double>(step), 2 * 3.14159265358979323846) /
                       static_cast<double>(step);
}

Check make_check(const Spec& spec) {
  return [spec, observed = Observed(spec)](Session& session, const Case& values) mutable {
    const std::int64_t position = values[0];
    const std::int64_t step = values[1];
    const Points points = observed.points(session, position, step);
    Judgement judgement;
    for (std::int64_t pair = 0; pair < observed.count(); ++pair) {
      const Point& here = points.here[static_cast<std::size_t>(pair)];
      const Point& there = points.there[static_cast<std::size_t>(pair)];
      const auto place = [&] {
        return fmt::format("pair {}, from position {} to {}", pair, position, position + step);
      };
      if (!std::isfinite(here.cos) || !std::isfinite(here.sin) || !std::isfinite(there.cos) ||
          !std::isfinite(there.sin)) {
        judgement.add(Certainty::no, not_finite(), [&] { return place() + ": a value is NaN or infinite"; });
        continue;
      }
      Deviation deviation;
      double claimed = 0;
      const Certainty within = reference::decide([&](Precision precision) {
        // z(p + k) conj z(p) = a^2 e^(i w k); each z is within e of its true point, of length a: the product is off by
        // at most a (e + e') + e e'.
        const reference::Rotation advance = observed.advance(step, pair, precision);
        const Enclosure a = observed.radius(precision);
        const Enclosure e = observed.budget().pair_bound(a, observed.angle(position, pair, precision), pair);
        const Enclosure f = observed.budget().pair_bound(a, observed.angle(position + step, pair, precision), pair);
        const auto exact = [&](double value) { return Enclosure(value, precision); };
        const Enclosure real = exact(there.cos) * exact(here.cos) + exact(there.sin) * exact(here.sin);
        const Enclosure imaginary = exact(there.sin) * exact(here.cos) - exact(there.cos) * exact(here.sin);
        const Enclosure error = hypot(real - square(a) * advance.cos, imaginary - square(a) * advance.sin);
        const Enclosure bound = a * (e + f) + e * f;
        claimed = advance.angle.upper() / static_cast<double>(step);
        deviation = deviation_of(error, bound, reference::ulp(spec.dtype, square(a)).upper());
        return reference::at_most(error, bound);
      });
      judgement.add(within, deviation, [&] {
        return fmt::format("{}: frequency {:.9g} measured, {:.9g} claimed: {:.3g} times the bound", place(),
                           measured_frequency(here, there, claimed, step), claimed, deviation.of_bound);
      });
    }
    return judgement;
  };
}

}  // namespace

Property frequencies_property() {
  Property property;
  property.id = "frequencies";
  property.explanation = {
      "each pair advances by its own frequency, the one that the spec states",
      "z_i(p + k) = e^(i w_i k) z_i(p), z_i = cos + i sin of pair i; w_i = base^(-2i/d), scaled as "
      "rope_scaling says, in the spec's direction",
      "Vaswani et al. 2017, section 3.5; Su et al. 2021, section 3.2.2, equation 15; "
      "reference/rope_scaling.hpp for the scaling rules",
      "sinusoidal, rope where frequencies do not depend on the length of the call",
      "each z is within e = sqrt(2) k ulp(a) + min(d, 2) a of its true point "
      "(properties/model/budget.hpp), so the product z(p + k) conj z(p) is within a (e + e') + e e' "
      "of a^2 e^(i w k); steps that are powers of two resolve slow pairs as finely as fast ones",
      "another base, exponent or rotary_dim; a frequency list in another order; scaling left out, "
      "blended the wrong way or rounded; the other direction"};
  property.fields = [](const Spec&) { return std::vector<std::string>{"position", "step"}; };
  property.not_applicable = [](const Spec& spec) -> std::optional<std::string> {
    if (!std::holds_alternative<Rope>(spec.encoding) && !std::holds_alternative<Sinusoidal>(spec.encoding))
      return not_stated_for(spec);
    if (spec.max_position - spec.min_position < 2) return "the claim has one position only";
    return depends_on_length(spec);
  };
  property.admits = [](const Spec& spec, const Case& values) {
    return values[0] >= spec.min_position && values[0] < spec.max_position && values[1] >= 1 &&
           values[1] < spec.max_position - values[0];
  };
  property.simplest = [](const Spec& spec) {
    return Case{std::min(gen::simplest_position(gen::range_of(spec)), spec.max_position - 2), 1};
  };
  property.first_cases = [](const Spec& spec) {
    // Every power of two that fits, from the simplest position on: each pair has its telling one.
    const std::int64_t p = std::min(gen::simplest_position(gen::range_of(spec)), spec.max_position - 2);
    std::vector<Case> cases;
    for (std::int64_t step = 1; step < spec.max_position - p && step < (std::int64_t{1} << 20); step *= 4)
      cases.push_back({p, step});
    return cases;
  };
  property.cases = [](const Spec& spec) {
    const auto parts = rc::gen::pair(gen::position({spec.min_position, spec.max_position - 1}), gen::count(0, 20));
    return rc::gen::map(parts, [last = spec.max_position](const std::pair<std::int64_t, std::int64_t>& drawn) {
      return Case{drawn.first, std::min(std::int64_t{1} << drawn.second, last - 1 - drawn.first)};
    });
  };
  property.make_check = make_check;
  return property;
}

}  // namespace sextant
