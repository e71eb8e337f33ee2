#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "properties/catalogue.hpp"
#include "properties/gen/position.hpp"
#include "properties/model/accuracy_of.hpp"
#include "properties/model/question.hpp"

namespace sextant {
namespace {

// The claim with one field changed.
struct Variant {
  std::string field;
  Spec spec;
};

// Keeps the changes that make a spec.
void add(std::vector<Variant>& variants, const Spec& spec, std::string field,
         const std::function<void(Spec&)>& change) {
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
  with("layout",
       [](Sinusoidal& e) { e.layout = e.layout == Layout::interleaved ? Layout::concatenated : Layout::interleaved; });
  with("first", [](Sinusoidal& e) { e.first = e.first == First::sin ? First::cos : First::sin; });
  with("denominator", [](Sinusoidal& e) {
    e.denominator = e.denominator == Denominator::dim ? Denominator::half_minus_one : Denominator::dim;
  });
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
  with("direction", [](Rope& e) {
    e.direction = e.direction == Direction::clockwise ? Direction::counterclockwise : Direction::clockwise;
  });
  with("rotary_dim", [](Rope& e) { e.rotary_dim = e.rotary_dim == e.head_dim ? e.head_dim / 2 / 2 * 2 : e.head_dim; });
  with("rope_scaling", [](Rope& e) {
    e.rope_scaling = std::holds_alternative<LinearScaling>(e.rope_scaling) ? RopeScaling(DefaultScaling{})
                                                                           : RopeScaling(LinearScaling{2.5});
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

// Adds changes of one encoding's fields, wherever it stands in the spec.
template <class Chosen>
struct Changes {
  std::vector<Variant>& variants;
  const Spec& spec;

  void operator()(const char* field, const std::function<void(Chosen&)>& change) const {
    add(variants, spec, field, [&](Spec& changed) { change(std::get<Chosen>(changed.encoding)); });
  }
};

void add_code(std::vector<Variant>& variants, const Spec& spec) {
  if (std::holds_alternative<Integer>(spec.encoding)) {
    const Changes<Integer> with{variants, spec};
    with("dim", [](Integer& e) { e.dim += 2; });
    // A count that overflows the dtype answers no question.
    if (static_cast<double>(spec.max_position) <= largest_finite(spec.dtype))
      with("normalize", [](Integer& e) { e.normalize = !e.normalize; });
  } else if (std::holds_alternative<Binary>(spec.encoding)) {
    const Changes<Binary> with{variants, spec};
    with("dim", [](Binary& e) { e.dim += 2; });
    with("normalize", [](Binary& e) { e.normalize = !e.normalize; });
  } else if (std::holds_alternative<Sinusoidal2d>(spec.encoding)) {
    const Changes<Sinusoidal2d> with{variants, spec};
    with("base", [](Sinusoidal2d& e) { e.base = e.base * 3 + 7; });
    with("dim", [](Sinusoidal2d& e) { e.dim += 4; });
    with("layout", [](Sinusoidal2d& e) {
      e.layout = e.layout == Layout::interleaved ? Layout::concatenated : Layout::interleaved;
    });
    with("axis_order", [](Sinusoidal2d& e) {
      e.axis_order = e.axis_order == AxisOrder::height_first ? AxisOrder::width_first : AxisOrder::height_first;
    });
  }
}

void add_rotation(std::vector<Variant>& variants, const Spec& spec) {
  const auto other = [](Pairing pairing) { return pairing == Pairing::half ? Pairing::interleaved : Pairing::half; };
  if (std::holds_alternative<RopeNd>(spec.encoding)) {
    const Changes<RopeNd> with{variants, spec};
    with("rope_theta", [](RopeNd& e) { e.rope_theta = e.rope_theta * 3 + 7; });
    with("pairing", [&](RopeNd& e) { e.pairing = other(e.pairing); });
    // One pair goes from the longest section to the last axis, or to a new one.
    with("sections", [](RopeNd& e) {
      const auto longest = std::ranges::max_element(e.sections);
      if (longest + 1 == e.sections.end()) e.sections.push_back(0);
      --*std::ranges::max_element(e.sections);
      ++e.sections.back();
    });
    with("section_order", [](RopeNd& e) {
      e.section_order = e.section_order == SectionOrder::blocked ? SectionOrder::interleaved : SectionOrder::blocked;
    });
  } else if (std::holds_alternative<Xpos>(spec.encoding)) {
    const Changes<Xpos> with{variants, spec};
    with("rope_theta", [](Xpos& e) { e.rope.rope_theta = e.rope.rope_theta * 3 + 7; });
    with("pairing", [&](Xpos& e) { e.rope.pairing = e.rope.output_pairing = other(e.rope.pairing); });
    with("direction", [](Xpos& e) {
      e.rope.direction = e.rope.direction == Direction::clockwise ? Direction::counterclockwise : Direction::clockwise;
    });
    with("scale_base", [](Xpos& e) { e.scale_base *= 2; });
    with("role", [](Xpos& e) { e.role = e.role == Role::query ? Role::key : Role::query; });
  }
}

void add_bias(std::vector<Variant>& variants, const Spec& spec) {
  if (std::holds_alternative<Alibi>(spec.encoding)) {
    const Changes<Alibi> with{variants, spec};
    with("num_heads", [](Alibi& e) { e.num_heads += 3; });
    with("mask", [](Alibi& e) { e.mask = e.mask == Mask::causal ? Mask::symmetric : Mask::causal; });
    with("form", [](Alibi& e) { e.form = e.form == AlibiForm::distance ? AlibiForm::key_index : AlibiForm::distance; });
  } else if (std::holds_alternative<RelativeBias>(spec.encoding)) {
    const Changes<RelativeBias> with{variants, spec};
    with("num_buckets", [](RelativeBias& e) { e.num_buckets += 8; });
    with("max_distance", [](RelativeBias& e) { e.max_distance *= 3; });
    with("bidirectional", [](RelativeBias& e) { e.bidirectional = !e.bidirectional; });
  }
}

void add_attention(std::vector<Variant>& variants, const Spec& spec) {
  const Changes<Attention> with{variants, spec};
  with("causal", [](Attention& e) { e.causal = !e.causal; });
  with("num_kv_heads", [](Attention& e) { e.num_kv_heads = e.num_kv_heads == 1 ? e.num_heads : 1; });
  with("position", [](Attention& e) {
    if (e.position) {
      e.position.reset();
    } else {
      Alibi alibi;
      alibi.num_heads = e.num_heads;
      alibi.mask = Mask::symmetric;
      e.position = alibi;
    }
  });
}

std::vector<Variant> variants_of(const Spec& spec) {
  std::vector<Variant> variants;
  if (std::holds_alternative<Sinusoidal>(spec.encoding)) add_sinusoidal(variants, spec);
  if (std::holds_alternative<Rope>(spec.encoding)) add_rope(variants, spec);
  add_code(variants, spec);
  add_rotation(variants, spec);
  add_bias(variants, spec);
  if (std::holds_alternative<Attention>(spec.encoding)) add_attention(variants, spec);
  std::erase_if(variants, [](const Variant& variant) { return accuracy_not_stated(variant.spec).has_value(); });
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
        judgement.add(found.within, found.deviation,
                      [&] { return fmt::format("with another {}: {}", variant.field, found.finding); });
      }
      // Several tokens, of two batch rows and heads where the encoding has them.
      Case near{values[1], 3, 2, 2, 1};
      near.resize(accuracy.fields(variant.spec).size());
      if (accuracy.admits(variant.spec, near)) {
        const Judgement found = check(*session, near);
        judgement.add(found.within, found.deviation,
                      [&] { return fmt::format("with another {}: {}", variant.field, found.finding); });
      }
    } catch (const SubjectFailure& failure) {
      if (failure.kind() != FailureKind::unsupported && failure.kind() != FailureKind::error) throw;
      // Refusing what one cannot do is as good as doing it, unless it is all that one does.
      ask(*subject.open(spec), spec, {values[1], 1, 1, 1, 1});
      // What was answered until then stays judged: a wrong answer is no refusal.
      judgement.add_exact(std::nullopt,
                          [&] { return fmt::format("with another {}: refused: {}", variant.field, failure.what()); });
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
  property.explanation = {
      "every field of the spec does what it says, or is refused",
      "for the spec with any one field changed, the answers are right under the changed spec, or there are none",
      "design of the spec: a field that is silently ignored answers another question than the one asked",
      "every encoding but learned, whose fields are its table's shape",
      "the accuracy property's bounds under the changed spec; an error or `unsupported` counts as refusing, of "
      "the calls that were not answered. Advice: a subject may be made "
      "for one spec alone",
      "a base, pairing, direction, offset or scaling rule that is hard-coded, read under another name, or honoured on "
      "one path only"};
  property.fields = [](const Spec&) { return std::vector<std::string>{"field", "position"}; };
  property.not_applicable = [](const Spec& spec) -> std::optional<std::string> {
    if (variants_of(spec).empty()) return not_stated_for(spec);
    return std::nullopt;
  };
  property.admits = [](const Spec& spec, const Case& values) {
    return values[0] >= 0 && values[0] < std::ssize(variants_of(spec)) && values[1] >= spec.min_position &&
           values[1] < last_position_of(spec);
  };
  property.simplest = [](const Spec& spec) {
    return Case{0, std::min(gen::simplest_position(gen::range_of(spec)) + 1, last_position_of(spec) - 1)};
  };
  property.first_cases = [simplest = property.simplest](const Spec& spec) {
    std::vector<Case> cases;
    for (std::int64_t field = 0; field < std::ssize(variants_of(spec)); ++field)
      cases.push_back({field, simplest(spec)[1]});
    return cases;
  };
  property.cases = [](const Spec& spec) {
    return rc::gen::map(rc::gen::pair(gen::count(0, std::ssize(variants_of(spec)) - 1),
                                      gen::position({spec.min_position, last_position_of(spec)})),
                        [](const std::pair<std::int64_t, std::int64_t>& drawn) {
                          return Case{drawn.first, drawn.second};
                        });
  };
  property.make_subject_check = make_check;
  return property;
}

}  // namespace sextant
