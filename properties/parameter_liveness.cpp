#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "properties/catalogue.hpp"
#include "properties/gen/position.hpp"
#include "properties/question.hpp"

namespace sextant {
namespace {

// The claim with one field changed.
struct Variant {
  std::string field;
  Spec spec;
};

// Keeps the changes that make a spec.
void add(std::vector<Variant>& variants, const Spec& spec, std::string field, const std::function<void(Spec&)>& change) {
  Spec changed = spec;
  change(changed);
  try {
    validate(changed);
    variants.push_back({std::move(field), std::move(changed)});
  } catch (const SpecError&) {
    // The field cannot have that value beside the others.
  }
}

void add_sinusoidal(std::vector<Variant>& variants, const Spec& spec) {
  const auto with = [&](const char* field, const std::function<void(Sinusoidal&)>& change) {
    add(variants, spec, field, [&](Spec& changed) { change(std::get<Sinusoidal>(changed.encoding)); });
  };
  with("base", [](Sinusoidal& e) { e.base = e.base * 3 + 7; });
  with("dim", [](Sinusoidal& e) { e.dim += 2; });
  with("layout", [](Sinusoidal& e) { e.layout = e.layout == Layout::interleaved ? Layout::concatenated : Layout::interleaved; });
  with("first", [](Sinusoidal& e) { e.first = e.first == First::sin ? First::cos : First::sin; });
  with("denominator", [](Sinusoidal& e) { e.denominator = e.denominator == Denominator::dim ? Denominator::half_minus_one : Denominator::dim; });
  with("position_offset", [](Sinusoidal& e) { e.position_offset += 3; });
  with("scale", [](Sinusoidal& e) { e.scale *= 0.75; });
}

void add_rope(std::vector<Variant>& variants, const Spec& spec) {
  const auto with = [&](const char* field, const std::function<void(Rope&)>& change) {
    add(variants, spec, field, [&](Spec& changed) { change(std::get<Rope>(changed.encoding)); });
  };
  const auto other = [](Pairing pairing) { return pairing == Pairing::half ? Pairing::interleaved : Pairing::half; };
  with("rope_theta", [](Rope& e) { e.rope_theta = e.rope_theta * 3 + 7; });
  with("pairing", [&](Rope& e) { e.pairing = e.output_pairing = other(e.pairing); });
  with("output_pairing", [&](Rope& e) { e.output_pairing = other(e.output_pairing); });
  with("direction", [](Rope& e) { e.direction = e.direction == Direction::clockwise ? Direction::counterclockwise : Direction::clockwise; });
  with("rotary_dim", [](Rope& e) { e.rotary_dim = e.rotary_dim == e.head_dim ? e.head_dim / 2 / 2 * 2 : e.head_dim; });
  with("rope_scaling", [](Rope& e) {
    e.rope_scaling = std::holds_alternative<LinearScaling>(e.rope_scaling) ? RopeScaling(DefaultScaling{}) : RopeScaling(LinearScaling{2.5});
  });
  with("factor", [](Rope& e) {
    std::visit(
        [](auto& rule) {
          if constexpr (requires { rule.factor *= 2; }) {
            rule.factor *= 2;
          }
        },
        e.rope_scaling);
  });
}

std::vector<Variant> variants_of(const Spec& spec) {
  std::vector<Variant> variants;
  if (std::holds_alternative<Sinusoidal>(spec.encoding)) add_sinusoidal(variants, spec);
  if (std::holds_alternative<Rope>(spec.encoding)) add_rope(variants, spec);
  return variants;
}

SubjectCheck make_check(const Spec& spec) {
  return [spec, variants = variants_of(spec)](const Subject& subject, const Case& values) {
    const Variant& variant = variants[static_cast<std::size_t>(values[0])];
    Judgement judgement;
    try {
      // What accuracy says of the changed spec: a field that is ignored gives the unchanged one's values.
      const Property accuracy = accuracy_property();
      const Check check = accuracy.make_check(variant.spec);
      const std::unique_ptr<Session> session = subject.open(variant.spec);
      for (const Case& asked : accuracy.first_cases(variant.spec)) {
        const Judgement found = check(*session, asked);
        judgement.add(found.within, found.deviation, [&] { return fmt::format("with another {}: {}", variant.field, found.finding); });
      }
      const bool rope = std::holds_alternative<Rope>(variant.spec.encoding);
      const Case near = rope ? Case{values[1], 3, 2, 2, 1} : Case{values[1], 3};
      if (accuracy.admits(variant.spec, near)) {
        const Judgement found = check(*session, near);
        judgement.add(found.within, found.deviation, [&] { return fmt::format("with another {}: {}", variant.field, found.finding); });
      }
    } catch (const SubjectFailure& failure) {
      if (failure.kind() != FailureKind::unsupported && failure.kind() != FailureKind::error) throw;
      // Refusing what one cannot do is as good as doing it, unless it is all that one does.
      ask(*subject.open(spec), spec, {values[1], 1, 1, 1, 1});
      judgement = {};
      judgement.add_exact(std::nullopt, [&] { return fmt::format("with another {}: refused: {}", variant.field, failure.what()); });
    }
    return judgement;
  };
}

}  // namespace

Property parameter_liveness_property() {
  Property property;
  property.id = "parameter_liveness";
  property.level = Level::advice;
  property.needs = Needs::live_subject;
  property.sessions = Sessions::own;
  property.explanation = {"every field of the spec does what it says, or is refused",
                          "for the spec with any one field changed, the answers are right under the changed spec, or there are none",
                          "design of the spec: a field that is silently ignored answers another question than the one asked",
                          "sinusoidal, rope",
                          "the accuracy property's bounds under the changed spec; an error or `unsupported` counts as refusing. Advice: a subject may be made "
                          "for one spec alone",
                          "a base, pairing, direction, offset or scaling rule that is hard-coded, read under another name, or honoured on one path only"};
  property.fields = [](const Spec&) { return std::vector<std::string>{"field", "position"}; };
  property.not_applicable = [](const Spec& spec) -> std::optional<std::string> {
    if (variants_of(spec).empty()) return not_stated_for(spec);
    return std::nullopt;
  };
  property.admits = [](const Spec& spec, const Case& values) {
    return values[0] >= 0 && values[0] < std::ssize(variants_of(spec)) && values[1] >= spec.min_position && values[1] < spec.max_position;
  };
  property.simplest = [](const Spec& spec) { return Case{0, std::min(gen::simplest_position(gen::range_of(spec)) + 1, spec.max_position - 1)}; };
  property.first_cases = [simplest = property.simplest](const Spec& spec) {
    std::vector<Case> cases;
    for (std::int64_t field = 0; field < std::ssize(variants_of(spec)); ++field) cases.push_back({field, simplest(spec)[1]});
    return cases;
  };
  property.cases = [](const Spec& spec) {
    return rc::gen::map(rc::gen::pair(gen::count(0, std::ssize(variants_of(spec)) - 1), gen::position(gen::range_of(spec))),
                        [](const std::pair<std::int64_t, std::int64_t>& drawn) { return Case{drawn.first, drawn.second}; });
  };
  property.make_subject_check = make_check;
  return property;
}

}  // namespace sextant
