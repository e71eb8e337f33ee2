#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lib/numeric/ulp.hpp"
#include "properties/budget.hpp"
#include "properties/catalogue.hpp"
#include "properties/gen/position.hpp"
#include "properties/gen/vectors.hpp"
#include "reference/rope.hpp"
#include "reference/rounding.hpp"
#include "reference/sinusoidal.hpp"
#include "subjects/operations.hpp"

namespace sextant {
namespace {

using reference::Certainty;
using reference::Enclosure;
using reference::Precision;

// A sinusoidal case asks for `rows` consecutive positions; a rope case rotates a whole tensor (gen/vectors.hpp).
const std::vector<std::string> sinusoidal_fields{"position", "rows"};
const std::vector<std::string> rope_fields{"position", "tokens", "batch", "heads", "fill"};

// A real number with the bound that the claim puts on an implementation's error there.
struct Target {
  Enclosure truth;
  Enclosure bound;
};

// Judges one value against its target; `at` makes the target at a precision, `place` says where it stands if that is told. The two strictest classes are judged by what
// the truth rounds to, the others by the bound.
template <class At, class Place>
void judge(Judgement& judgement, const ErrorBudget& budget, double value, At at, Place place) {
  if (!std::isfinite(value)) {
    judgement.add(Certainty::no, not_finite(), [&] {
      return fmt::format("{}: got {}, true value {:.12g}", place(), value, at(reference::first_precision).truth.upper());
    });
    return;
  }
  Deviation deviation;
  double truth = 0;
  const Certainty within = reference::decide([&](Precision precision) {
    const Target target = at(precision);
    truth = target.truth.upper();
    const Enclosure error = abs(Enclosure(value, precision) - target.truth);
    deviation = deviation_of(error, target.bound, ulp(budget.dtype(), truth));
    if (budget.accuracy() != AccuracyClass::correctly_rounded && budget.accuracy() != AccuracyClass::faithful) {
      return reference::at_most(error, target.bound);
    }
    const auto rounded = reference::correctly_rounded(budget.dtype(), target.truth);
    if (rounded && *rounded == value) return Certainty::yes;
    if (budget.accuracy() == AccuracyClass::correctly_rounded) return rounded ? Certainty::no : Certainty::unknown;
    // Faithful: no value of the format lies between the truth and this one.
    const Enclosure below(next_below(budget.dtype(), value), precision);
    const Enclosure above(next_above(budget.dtype(), value), precision);
    const bool inside = certainly_above(target.truth, below) && certainly_above(above, target.truth);
    const bool outside = certainly_at_most(target.truth, below) || certainly_at_most(above, target.truth);
    return inside ? Certainty::yes : outside ? Certainty::no : Certainty::unknown;
  });
  judgement.add(within, deviation,
                [&] { return fmt::format("{}: {}", place(), comparison_text(budget.dtype(), value, truth, deviation)); });
}

Check sinusoidal_check(const Spec& spec) {
  const auto& encoding = std::get<Sinusoidal>(spec.encoding);
  reference::SinusoidalReference oracle(encoding);
  const ErrorBudget budget(spec.accuracy, spec.dtype, oracle.frequencies(), pairs(encoding));
  return [spec, encoding, oracle, budget](Session& session, const Case& values) mutable {
    const std::vector<std::int64_t> positions = gen::consecutive(values[0], values[1]);
    const Tensor table = encode(session, spec, positions);
    Judgement judgement;
    for (std::size_t row = 0; row < positions.size(); ++row) {
      for (std::int64_t pair = 0; pair < pairs(encoding); ++pair) {
        const Channels channels = channels_of_pair(encoding, pair);
        for (const std::int64_t channel : {channels.first, channels.second}) {
          const auto at = [&](Precision precision) -> Target {
            const reference::Rotation& rotation = oracle.rotation(positions[row], pair, precision);
            const Enclosure scale(encoding.scale, precision);
            const bool is_sine = channel == channels.first;
            const Enclosure truth = scale * (is_sine ? rotation.sin : rotation.cos);
            const Enclosure derivative = scale * (is_sine ? rotation.cos : rotation.sin);
            return {truth, budget.element_bound(truth, derivative, scale, rotation.angle, pair)};
          };
          judge(judgement, budget, table.at(static_cast<std::int64_t>(row) * encoding.dim + channel), at,
                [&] { return fmt::format("position {}, channel {}", positions[row], channel); });
        }
      }
    }
    return judgement;
  };
}

// Channels that no frequency turns carry their input's bits, so they are compared as bytes: NaN and -0 included.
void judge_passthrough(Judgement& judgement, const std::vector<Passthrough>& channels, const Tensor& x, const Tensor& y,
                       std::int64_t start) {
  const std::size_t width = size_of(x.dtype);
  for (const Passthrough& channel : channels) {
    const auto* in = x.data.data() + static_cast<std::size_t>(start + channel.input) * width;
    const auto* out = y.data.data() + static_cast<std::size_t>(start + channel.output) * width;
    const bool same = std::equal(in, in + width, out);
    const double given = x.at(start + channel.input);
    const double got = y.at(start + channel.output);
    const Deviation deviation = same ? Deviation{} : Deviation{not_finite().of_bound, std::fabs(got - given), ulp_error(x.dtype, got, given)};
    judgement.add(same ? Certainty::yes : Certainty::no, deviation, [&] {
      return fmt::format("channel {} is not rotated: got {}, expected {} bit for bit", channel.output,
                         value_text(x.dtype, got), value_text(x.dtype, given));
    });
  }
}

Check rope_check(const Spec& spec) {
  const auto& encoding = std::get<Rope>(spec.encoding);
  reference::RopeReference oracle(encoding);
  const ErrorBudget budget(spec.accuracy, spec.dtype, oracle.frequencies(), spec.max_position);
  const std::vector<Passthrough> untouched = passthrough_channels(encoding);
  return [spec, encoding, oracle, budget, untouched](Session& session, const Case& values) mutable {
    const gen::Extents extents{.batch = values[2], .tokens = values[1], .heads = values[3]};
    const Tensor x = gen::vectors(encoding, spec.dtype, extents, values[4]);
    const std::vector<std::int64_t> positions = gen::positions(gen::range_of(spec), values[0], extents);
    const std::int64_t length = reference::sequence_length(positions);
    const Tensor y = rotate(session, spec, x, positions);
    Judgement judgement;
    for (std::size_t token = 0; token < positions.size(); ++token) {
      const std::int64_t first_head = static_cast<std::int64_t>(token) * extents.heads;
      for (std::int64_t pair = 0; pair < pairs(encoding); ++pair) {
        const Channels from = channels_of_pair(encoding, encoding.pairing, pair);
        const Channels to = channels_of_pair(encoding, encoding.output_pairing, pair);
        for (std::int64_t head = 0; head < extents.heads; ++head) {
          const std::int64_t start = (first_head + head) * encoding.head_dim;
          const double x0 = x.at(start + from.first);
          const double x1 = x.at(start + from.second);
          for (const std::int64_t channel : {to.first, to.second}) {
            const auto at = [&](Precision precision) -> Target {
              const reference::Rotation& rotation = oracle.rotation(positions[token], pair, length, precision);
              const Enclosure& factor = oracle.attention_factor(precision);
              const reference::RealPair given{Enclosure(x0, precision), Enclosure(x1, precision)};
              const reference::RealPair turned = reference::RopeReference::rotate(rotation, given);
              const Enclosure norm = factor * hypot(given.first, given.second);
              return {factor * (channel == to.first ? turned.first : turned.second), budget.component_bound(norm, rotation.angle, pair)};
            };
            judge(judgement, budget, y.at(start + channel), at, [&] {
              return fmt::format("position {}, batch row {}, head {}, channel {}", positions[token],
                                 static_cast<std::int64_t>(token) / extents.tokens, head, channel);
            });
          }
        }
      }
      for (std::int64_t head = 0; head < extents.heads; ++head) {
        judge_passthrough(judgement, untouched, x, y, (first_head + head) * encoding.head_dim);
      }
    }
    return judgement;
  };
}

bool is_rope(const Spec& spec) { return std::holds_alternative<Rope>(spec.encoding); }

bool admits(const Spec& spec, const Case& values) {
  const gen::PositionRange range = gen::range_of(spec);
  if (values[0] < range.first || values[0] >= range.last || values[1] < 1 || values[1] > 64) return false;
  if (!is_rope(spec)) return values[0] <= range.last - values[1];
  return values[2] >= 1 && values[2] <= 16 && values[3] >= 1 && values[3] <= 64 && values[4] >= 0;
}

rc::Gen<Case> cases(const Spec& spec) {
  const gen::PositionRange range = gen::range_of(spec);
  const auto rows = gen::one_of({1, 2, 3, 4, 7});
  if (!is_rope(spec)) {
    return rc::gen::map(rc::gen::pair(gen::position(range), rows), [last = range.last](const std::pair<std::int64_t, std::int64_t>& drawn) {
      return Case{drawn.first, std::min(drawn.second, last - drawn.first)};
    });
  }
  // Extents that mostly differ from each other: equal ones hide swapped axes.
  const auto parts = rc::gen::tuple(gen::position(range), rows, gen::one_of({1, 2, 3}), gen::one_of({1, 2, 5}), gen::count(0, 1000));
  return rc::gen::map(parts, [](const auto& drawn) {
    return std::apply([](auto... value) { return Case{value...}; }, drawn);
  });
}

}  // namespace

Property accuracy_property() {
  Property property;
  property.id = "accuracy";
  property.explanation = {
      "every value is as near to the true one as its accuracy class claims",
      "sinusoidal: |PE(p, c) - scale*sin|cos(w_i (p + offset))| <= k ulp + effect of the class's angle error\n"
      "rope: |y_c - a (R(p w_i) x)_c| <= k ulp(a hypot(x0, x1)) + the same effect, a the attention factor of rope_scaling; "
      "channels not rotated keep their bits",
      "Vaswani et al. 2017, section 3.5; Su et al. 2021, section 3.2.2, equation 15",
      "sinusoidal, rope",
      "properties/budget.hpp: an angle off by d = |p w_i| c_i u/(1 - c_i u), c_i = 5 + 2 |ln w_i|, u that of the class, "
      "moves the value by at most |derivative| d + d^2/2; evaluation and rounding add k = 4 ULP. correctly-rounded and "
      "faithful are judged by what the enclosed true value rounds to",
      "another base, frequency list, scaling rule or attention factor, layout, pairing, sign or position; low-precision positions, frequencies or angles; poor "
      "range reduction; a table in another order; channels rotated that should not be"};
  property.fields = [](const Spec& spec) { return is_rope(spec) ? rope_fields : sinusoidal_fields; };
  property.not_applicable = [](const Spec& spec) -> std::optional<std::string> {
    if (!is_rope(spec) && !std::holds_alternative<Sinusoidal>(spec.encoding)) return not_stated_for(spec);
    return std::nullopt;
  };
  property.admits = admits;
  property.simplest = [](const Spec& spec) {
    const std::int64_t p = gen::simplest_position(gen::range_of(spec));
    return is_rope(spec) ? Case{p, 1, 1, 1, 0} : Case{p, 1};
  };
  property.first_cases = [](const Spec& spec) {
    const gen::PositionRange range = gen::range_of(spec);
    std::vector<std::int64_t> positions{gen::simplest_position(range), range.first, range.last - 1};
    // The calls on either side of the length at which a scaling rule takes other frequencies.
    const auto* rope = std::get_if<Rope>(&spec.encoding);
    if (const auto limit = rope == nullptr ? std::nullopt : length_limit(rope->rope_scaling)) {
      for (const std::int64_t p : {*limit - 1, *limit}) {
        if (p >= range.first && p < range.last) positions.push_back(p);
      }
    }
    std::vector<Case> ends;
    for (const std::int64_t p : positions) {
      ends.push_back(is_rope(spec) ? Case{p, 1, 1, 1, 0} : Case{p, 1});
    }
    return ends;
  };
  property.cases = cases;
  property.make_check = [](const Spec& spec) { return is_rope(spec) ? rope_check(spec) : sinusoidal_check(spec); };
  return property;
}

}  // namespace sextant
