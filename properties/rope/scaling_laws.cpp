#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "properties/catalogue.hpp"
#include "properties/engine/failure.hpp"
#include "properties/engine/typed_cases.hpp"
#include "properties/gen/draw.hpp"
#include "properties/gen/position.hpp"
#include "properties/gen/vectors.hpp"
#include "properties/model/family.hpp"
#include "properties/model/model.hpp"
#include "subjects/operations.hpp"

// Two laws of scaling rules that compare a spec with another, so that the subject is opened under both.

namespace sextant {
namespace {

Spec with_scaling(Spec spec, Rope rope, RopeScaling scaling) {
  rope.rope_scaling = std::move(scaling);
  spec.encoding = std::move(rope);
  return spec;
}

// The claim with its rule made neutral: factor 1, or calls no longer than those that it leaves alone. Nothing for rules
// that are never so.
std::optional<Spec> neutral(const Spec& spec, const Rope& rope) {
  Spec changed = spec;
  RopeScaling scaling = rope.rope_scaling;
  if (auto* linear = std::get_if<LinearScaling>(&scaling))
    linear->factor = 1;
  else if (auto* ntk = std::get_if<NtkScaling>(&scaling))
    ntk->factor = 1;
  else if (auto* llama3 = std::get_if<Llama3Scaling>(&scaling))
    llama3->factor = 1;
  else if (auto* yarn = std::get_if<YarnScaling>(&scaling)) {
    yarn->factor = 1;
    yarn->attention_factor.reset();  // one that is given holds at every factor
  } else if (auto* dynamic = std::get_if<DynamicScaling>(&scaling)) {
    changed.max_position = std::min(changed.max_position, dynamic->original_max_position_embeddings);
  } else {
    return std::nullopt;
  }
  changed = with_scaling(changed, rope, scaling);
  try {
    validate(changed);
  } catch (const SpecError&) {
    return std::nullopt;
  }
  return changed;
}

// What the subject gives for x under a spec.
Tensor rotated(const Subject& subject, const Spec& spec, const Tensor& x, std::span<const std::int64_t> positions) {
  return rotate(*subject.open(spec), spec, x, positions);
}

constexpr std::int64_t tokens = 3;
constexpr std::int64_t heads = 2;

Tensor drawn(const Spec& spec, const Rope& rope, std::int64_t fill) {
  return gen::vectors(rope, spec.dtype, {.batch = 1, .tokens = tokens, .heads = heads}, fill + 1);
}

// One answer against the other, whose budget is the less: the places are those of the one.
Judgement compared(Judge& judge, const Tensor& x, const Tensor& one, const Tensor& other,
                   const std::vector<std::int64_t>& positions) {
  const Call call{.positions = positions, .vectors = {x}};
  return judge.agreement({.whole = call, .part = call, .in_whole = std::identity()}, one, other);
}

// Judges with the subject opened under other specs: what it refuses there is unsupported, unless it refuses the claim
// itself.
template <class Judging>
Judgement under_other_specs(const Subject& subject, const Spec& spec, const Rope& rope, std::int64_t position,
                            Judging judging) {
  try {
    return judging();
  } catch (const SubjectFailure& failure) {
    if (ends_session(failure.kind())) throw;
    rotated(subject, spec, drawn(spec, rope, 0), std::vector<std::int64_t>(tokens, position));
    throw SubjectFailure(FailureKind::unsupported, failure.what());
  }
}

Property asked_under_two_specs() {
  Property property;
  property.level = Level::advice;
  property.needs = Needs::live_subject;
  property.sessions = Sessions::own;
  property.changes = "rope_scaling";
  return property;
}

// The first and furthest token of a call.
struct Place {
  std::int64_t position;
  std::int64_t fill;
};

CasesOf<Place> neutral_places() {
  CasesOf<Place> cases;
  cases.fields = of<Rope>([](const Spec& spec, const Rope& rope) -> std::vector<FieldOf<Place>> {
    return {{"position", FieldRole::position, &Place::position, claimed(*neutral(spec, rope))},
            {"fill", FieldRole::fill, &Place::fill, any_fill}};
  });
  cases.first = of<Rope>([](const Spec& spec, const Rope& rope) -> std::vector<Place> {
    const gen::PositionRange range = gen::range_of(*neutral(spec, rope));
    return {{.position = std::min(gen::simplest_position(range) + 1, range.last - 1), .fill = 0},
            {.position = range.last - 1, .fill = 1}};
  });
  cases.drawn = of<Rope>([](const Spec& spec, const Rope& rope) {
    return gen::map(gen::pair(gen::position(gen::range_of(*neutral(spec, rope))), gen::count(0, 1000)),
                    [](const std::pair<std::int64_t, std::int64_t>& drawn) {
                      return Place{.position = drawn.first, .fill = drawn.second};
                    });
  });
  return cases;
}

SubjectCheckOf<Place> neutral_check(const Spec& spec, const Rope& rope) {
  const Spec changed = *neutral(spec, rope);
  return [spec, rope, changed, plain = with_scaling(changed, rope, DefaultScaling{}),
          judge = std::shared_ptr(model_of(changed)->judge())](const Subject& subject, const Place& asked) {
    return under_other_specs(subject, spec, rope, asked.position, [&] {
      const Tensor x = drawn(spec, rope, asked.fill);
      std::vector<std::int64_t> positions;
      for (std::int64_t token = 0; token < tokens; ++token)
        positions.push_back(std::max(asked.position - 5 * token, spec.min_position));
      return compared(*judge, x, rotated(subject, changed, x, positions), rotated(subject, plain, x, positions),
                      positions);
    });
  };
}

// A position, and the factor that it is stretched by.
struct Stretch {
  std::int64_t position;
  std::int64_t factor;
  std::int64_t fill;
};

CasesOf<Stretch> stretched_ropes() {
  CasesOf<Stretch> cases;
  cases.fields = [](const Spec& spec) -> std::vector<FieldOf<Stretch>> {
    FieldRange positions = claimed(spec);
    positions.simplest = 1;  // at 0 nothing turns
    return {{"position", FieldRole::position, &Stretch::position, positions},
            {"factor", FieldRole::number, &Stretch::factor, {2, 16}},
            {"fill", FieldRole::fill, &Stretch::fill, any_fill}};
  };
  cases.related = [](const Spec& spec, const Stretch& asked) {
    const std::int64_t far = asked.position * asked.factor;
    if (asked.position == 0 && spec.min_position >= 0) return false;  // where nothing turns whatever the rule
    return far >= spec.min_position && far < spec.max_position;
  };
  cases.first = [](const Spec& spec) -> std::vector<Stretch> {
    std::vector<Stretch> list{{.position = 1, .factor = 2, .fill = 0},
                              {.position = (spec.max_position - 1) / 2, .factor = 2, .fill = 1},
                              {.position = (spec.max_position - 1) / 7, .factor = 7, .fill = 2}};
    std::erase_if(list, [](const Stretch& asked) { return asked.position == 0; });
    return list;
  };
  cases.drawn = [](const Spec& spec) {
    const auto parts = gen::tuple(gen::position(gen::range_of(spec)), gen::one_of({2, 3, 4, 8}), gen::count(0, 1000));
    return gen::map(parts,
                    [first = spec.min_position](const std::tuple<std::int64_t, std::int64_t, std::int64_t>& drawn) {
                      const auto [position, factor, fill] = drawn;
                      if (first >= 0 && position / factor == 0) return Stretch{1, 2, fill};
                      return Stretch{std::max(position / factor, first >= 0 ? first : position / factor), factor, fill};
                    });
  };
  return cases;
}

SubjectCheckOf<Stretch> linear_check(const Spec& spec, const Rope& rope) {
  return [spec, rope](const Subject& subject, const Stretch& asked) {
    const Spec plain = with_scaling(spec, rope, DefaultScaling{});
    const Spec stretched = with_scaling(spec, rope, LinearScaling{static_cast<double>(asked.factor)});
    const std::unique_ptr<Judge> judge = model_of(stretched)->judge();
    return under_other_specs(subject, spec, rope, asked.position, [&] {
      const Tensor x = drawn(spec, rope, asked.fill);
      // The position, and nearer ones where they are claimed.
      std::vector<std::int64_t> near;
      std::vector<std::int64_t> far;
      for (std::int64_t token = 0; token < tokens; ++token) {
        const std::int64_t candidate = asked.position - 3 * token;
        const bool claims_both = candidate >= spec.min_position && asked.factor * candidate >= spec.min_position;
        near.push_back(claims_both ? candidate : asked.position);
        far.push_back(asked.factor * near.back());
      }
      const Tensor scaled = rotated(subject, stretched, x, far);
      Judgement judgement = compared(*judge, x, scaled, rotated(subject, plain, x, near), far);
      const auto is_unchanged = [&] {
        // NaN is the same whatever it comes from.
        for (std::int64_t i = 0; i < scaled.elements(); ++i) {
          if (!std::isfinite(scaled.at(i))) return false;
        }
        return scaled.data == rotated(subject, plain, x, far).data;
      };
      if (judgement.within == reference::Certainty::no && is_unchanged()) {
        // A claim without a rule says nothing of one: of a field that is ignored parameter_liveness tells.
        if (std::holds_alternative<DefaultScaling>(rope.rope_scaling))
          throw SubjectFailure(FailureKind::unsupported,
                               "the subject ignores rope_scaling, which the claim leaves out");
        judgement.finding = fmt::format("scaling by {} changes nothing: {}", asked.factor, judgement.finding);
      }
      return judgement;
    });
  };
}

std::optional<std::string> never_neutral(const Spec& spec, const Rope& rope) {
  if (!neutral(spec, rope)) return fmt::format("rope_type {} has no neutral factor", name_of(rope.rope_scaling));
  return std::nullopt;
}

std::optional<std::string> never_linear(const Spec& spec, const Rope& rope) {
  const RopeScaling& scaling = rope.rope_scaling;
  if (!std::holds_alternative<DefaultScaling>(scaling) && !std::holds_alternative<LinearScaling>(scaling))
    return fmt::format("rope_type is {}, not linear", name_of(scaling));
  try {
    validate(with_scaling(spec, rope, LinearScaling{2}));
  } catch (const SpecError& error) {
    return error.what();
  }
  if (spec.min_position > 1 || spec.max_position <= 2) return "the claim lacks position 1 or 2";
  return std::nullopt;
}

}  // namespace

Property neutral_scaling_property() {
  Property property = asked_under_two_specs();
  property.id = "neutral_scaling";
  property.explanation = {
      "a scaling rule with factor 1 changes nothing",
      "R under the rule with factor 1 = R without a rule; under dynamic, in calls of up to L positions, at any factor",
      "Chen et al. 2023, equation 4; Peng et al. 2023, sections 3.1 to 3.4, at s = 1, where 0.1 ln s + 1 = 1 too; "
      "Meta's released Llama 3.1 code",
      "rope under linear, ntk, dynamic, yarn or llama3, the subject is asked under two specs, with factor 1 and "
      "without the rule",
      "both answers are within the rule's pair_bound of one truth (properties/model/budget.hpp), so within twice that "
      "of each other; a spec that is answered by an error is unsupported. Advice: a subject may be made for one spec "
      "alone",
      "a formula that is not 1 at 1, a blend whose parts do not add up, a magnitude that stays on, a rule that begins "
      "before its length"};
  property.not_applicable = stated_for<Rope>(never_neutral);
  use_cases(property, neutral_places(), of<Rope>(neutral_check));
  return property;
}

Property linear_scaling_property() {
  Property property = asked_under_two_specs();
  property.id = "linear_scaling";
  property.explanation = {
      "linear scaling by f equals dividing positions by f",
      "R(f p) under linear scaling by f = R(p) without, for whole f and every p",
      "Chen et al. 2023, equation 4: f'(x, m) = f(x, m L/L')",
      "rope under no rule or linear, asked under both; of a claim of no rule a subject that ignores the field is "
      "unsupported",
      "the angles are equal, f p w/f = p w, and linear's budget is the greater: both answers are within its pair_bound "
      "of one truth (properties/model/budget.hpp), so within twice that of each other; a spec that is answered by an "
      "error is unsupported. Advice: a subject may be made for one spec alone",
      "a factor that multiplies, is applied twice, on one path only or not at all"};
  property.not_applicable = stated_for<Rope>(never_linear);
  use_cases(property, stretched_ropes(), of<Rope>(linear_check));
  return property;
}

}  // namespace sextant
