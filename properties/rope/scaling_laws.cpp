#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "properties/catalogue.hpp"
#include "properties/gen/position.hpp"
#include "properties/gen/vectors.hpp"
#include "properties/model/row_agreement.hpp"
#include "subjects/operations.hpp"

// Two laws of scaling rules that compare a spec with another, so that the subject is opened under both.

namespace sextant {
namespace {

const Rope* rope_of(const Spec& spec) { return std::get_if<Rope>(&spec.encoding); }

Spec with_scaling(Spec spec, RopeScaling scaling) {
  std::get<Rope>(spec.encoding).rope_scaling = std::move(scaling);
  return spec;
}

// The claim with its rule made neutral: factor 1, or calls no longer than those that it leaves alone. Nothing for rules
// that are never so.
std::optional<Spec> neutral(const Spec& spec) {
  const Rope* rope = rope_of(spec);
  if (rope == nullptr) return std::nullopt;
  Spec changed = spec;
  RopeScaling& scaling = std::get<Rope>(changed.encoding).rope_scaling;
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

Tensor drawn(const Spec& spec, std::int64_t fill) {
  return gen::vectors(*rope_of(spec), spec.dtype, {.batch = 1, .tokens = tokens, .heads = heads}, fill + 1);
}

// Rows of one answer against those of the other, whose budget is the less: the places are those of the one.
Judgement compared(RowAgreement& agreement, std::int64_t width, const Tensor& x, const Tensor& one, const Tensor& other,
                   std::span<const std::int64_t> positions) {
  Judgement judgement;
  for (std::int64_t vector = 0; vector < tokens * heads; ++vector) {
    const RowOf given{x, vector * width};
    const std::int64_t place = positions[static_cast<std::size_t>(vector / heads)];
    agreement.compare(judgement, {one, vector * width}, {other, vector * width}, std::span(&place, 1), &given);
  }
  return judgement;
}

// Judges with the subject opened under other specs. Refusing what one cannot do is as good as doing it, unless it is
// all that one does.
template <class Judge>
Judgement unless_refused(const Subject& subject, const Spec& spec, std::int64_t position, Judge judge) {
  try {
    return judge();
  } catch (const SubjectFailure& failure) {
    if (failure.kind() != FailureKind::unsupported && failure.kind() != FailureKind::error) throw;
    rotated(subject, spec, drawn(spec, 0), std::vector<std::int64_t>(tokens, position));
    Judgement judgement;
    judgement.add_exact(std::nullopt, [&] { return fmt::format("refused: {}", failure.what()); });
    return judgement;
  }
}

Property two_specs_property() {
  Property property;
  property.level = Level::advice;
  property.needs = Needs::live_subject;
  property.sessions = Sessions::own;
  return property;
}

}  // namespace

Property neutral_scaling_property() {
  Property property = two_specs_property();
  property.id = "neutral_scaling";
  property.explanation = {
      "a scaling rule by a factor of 1 changes nothing",
      "R under the rule with factor 1 = R without a rule; under dynamic, in calls of up to L positions, at any factor",
      "Chen et al. 2023, equation 4; Peng et al. 2023, sections 3.1 to 3.4, at s = 1, where 0.1 ln s + 1 = 1 too; "
      "Meta's released Llama 3.1 code",
      "rope under linear, ntk, dynamic, yarn or llama3, asked under the changed spec and without the rule",
      "both answers are within the rule's pair_bound of one truth (properties/model/budget.hpp), so within twice that "
      "of "
      "each other; an error or `unsupported` "
      "counts as refusing. Advice: a subject may be made for one spec alone",
      "a formula that is not 1 at 1, a blend whose parts do not add up, a magnitude that stays on, a rule that begins "
      "before its length"};
  property.fields = [](const Spec&) { return std::vector<std::string>{"position", "fill"}; };
  property.not_applicable = [](const Spec& spec) -> std::optional<std::string> {
    if (rope_of(spec) == nullptr) return not_stated_for(spec);
    if (!neutral(spec))
      return fmt::format("{} has no factor that leaves frequencies alone", name_of(rope_of(spec)->rope_scaling));
    return std::nullopt;
  };
  property.admits = [](const Spec& spec, const Case& values) {
    return values[0] >= spec.min_position && values[0] < neutral(spec)->max_position && values[1] >= 0;
  };
  property.simplest = [](const Spec& spec) { return Case{gen::simplest_position(gen::range_of(*neutral(spec))), 0}; };
  property.first_cases = [](const Spec& spec) {
    const gen::PositionRange range = gen::range_of(*neutral(spec));
    return std::vector<Case>{{std::min(gen::simplest_position(range) + 1, range.last - 1), 0}, {range.last - 1, 1}};
  };
  property.cases = [](const Spec& spec) {
    return rc::gen::map(rc::gen::pair(gen::position(gen::range_of(*neutral(spec))), gen::count(0, 1000)),
                        [](const std::pair<std::int64_t, std::int64_t>& drawn) {
                          return Case{drawn.first, drawn.second};
                        });
  };
  property.make_subject_check = [](const Spec& spec) -> SubjectCheck {
    const Spec changed = *neutral(spec);
    return [spec, changed, plain = with_scaling(changed, DefaultScaling{}), agreement = RowAgreement(changed)](
               const Subject& subject, const Case& values) mutable {
      return unless_refused(subject, spec, values[0], [&] {
        const Tensor x = drawn(spec, values[1]);
        std::vector<std::int64_t> positions;
        for (std::int64_t token = 0; token < tokens; ++token)
          positions.push_back(std::max(values[0] - 5 * token, spec.min_position));
        return compared(agreement, rope_of(spec)->head_dim, x, rotated(subject, changed, x, positions),
                        rotated(subject, plain, x, positions), positions);
      });
    };
  };
  return property;
}

Property linear_scaling_property() {
  Property property = two_specs_property();
  property.id = "linear_scaling";
  property.explanation = {
      "linear scaling is reading positions at a fraction",
      "R(f p) under linear scaling by f = R(p) without, for whole f and every p",
      "Chen et al. 2023, equation 4: f'(x, m) = f(x, m L/L')",
      "rope under no rule or linear, asked under both",
      "the angles are equal, f p w/f = p w, and linear's budget is the greater: both answers are "
      "within its pair_bound of one truth "
      "(properties/model/budget.hpp), so within twice that of each other; an error or `unsupported` "
      "counts as refusing. Advice: a subject may be made for one "
      "spec alone",
      "a factor that multiplies, is applied twice, on one path only or not at all"};
  property.fields = [](const Spec&) { return std::vector<std::string>{"position", "factor", "fill"}; };
  property.not_applicable = [](const Spec& spec) -> std::optional<std::string> {
    if (rope_of(spec) == nullptr) return not_stated_for(spec);
    const RopeScaling& scaling = rope_of(spec)->rope_scaling;
    if (!std::holds_alternative<DefaultScaling>(scaling) && !std::holds_alternative<LinearScaling>(scaling))
      return fmt::format("{} is another rule", name_of(scaling));
    try {
      validate(with_scaling(spec, LinearScaling{2}));
    } catch (const SpecError& error) {
      return error.what();
    }
    if (spec.min_position > 1 || spec.max_position <= 2) return "the claim does not reach from 1 to 2";
    return std::nullopt;
  };
  property.admits = [](const Spec& spec, const Case& values) {
    const auto inside = [&](std::int64_t p) { return p >= spec.min_position && p < spec.max_position; };
    return values[1] >= 2 && values[1] <= 16 && inside(values[0]) && std::abs(values[0]) < (std::int64_t{1} << 54) &&
           inside(values[0] * values[1]) && values[2] >= 0;
  };
  property.simplest = [](const Spec&) { return Case{1, 2, 0}; };
  property.first_cases = [](const Spec& spec) {
    return std::vector<Case>{{1, 2, 0}, {(spec.max_position - 1) / 2, 2, 1}, {(spec.max_position - 1) / 7, 7, 2}};
  };
  property.cases = [](const Spec& spec) {
    const auto parts =
        rc::gen::tuple(gen::position(gen::range_of(spec)), gen::one_of({2, 3, 4, 8}), gen::count(0, 1000));
    return rc::gen::map(
        parts, [first = spec.min_position](const std::tuple<std::int64_t, std::int64_t, std::int64_t>& drawn) {
          const auto [position, factor, fill] = drawn;
          return Case{std::max(position / factor, first >= 0 ? first : position / factor), factor, fill};
        });
  };
  property.make_subject_check = [](const Spec& spec) -> SubjectCheck {
    return [spec](const Subject& subject, const Case& values) {
      const std::int64_t factor = values[1];
      const Spec plain = with_scaling(spec, DefaultScaling{});
      const Spec stretched = with_scaling(spec, LinearScaling{static_cast<double>(factor)});
      RowAgreement agreement(stretched);
      return unless_refused(subject, spec, values[0], [&] {
        const Tensor x = drawn(spec, values[2]);
        // The position, and nearer ones where they are claimed.
        std::vector<std::int64_t> near;
        std::vector<std::int64_t> far;
        for (std::int64_t token = 0; token < tokens; ++token) {
          const std::int64_t candidate = values[0] - 3 * token;
          near.push_back(candidate >= spec.min_position && factor * candidate >= spec.min_position ? candidate
                                                                                                   : values[0]);
          far.push_back(factor * near.back());
        }
        return compared(agreement, rope_of(spec)->head_dim, x, rotated(subject, stretched, x, far),
                        rotated(subject, plain, x, near), far);
      });
    };
  };
  return property;
}

}  // namespace sextant
