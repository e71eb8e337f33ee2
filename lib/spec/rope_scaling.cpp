#include "lib/spec/rope_scaling.hpp"

#include <cmath>

#include "lib/spec/encoding_entry.hpp"

namespace sextant {
namespace {

using nlohmann::json;

// The order of RopeScaling's alternatives.
enum class Type : std::size_t { default_rope, linear, ntk, dynamic, yarn, longrope, llama3, proportional, none };
constexpr Names<Type, 9> types{{{"default", Type::default_rope},
                                {"linear", Type::linear},
                                {"ntk", Type::ntk},
                                {"dynamic", Type::dynamic},
                                {"yarn", Type::yarn},
                                {"longrope", Type::longrope},
                                {"llama3", Type::llama3},
                                {"proportional", Type::proportional},
                                {"none", Type::none}}};

constexpr Names<LengthScope, 2> scopes{{{"call", LengthScope::call}, {"row", LengthScope::row}}};
constexpr Names<LengthSteps, 2> ways_to_step{{{"every", LengthSteps::every}, {"doublings", LengthSteps::doublings}}};

constexpr const char* factor = "factor";
constexpr const char* original = "original_max_position_embeddings";
constexpr const char* scope = "length_scope";
constexpr const char* steps = "length_steps";

double required_number(Fields& fields, const std::string& name) {
  const auto value = fields.number(name);
  if (!value) fields.refuse(name, "required");
  return *value;
}

RopeScaling read_type(Fields& fields, Type type) {
  switch (type) {
    case Type::default_rope: return DefaultScaling{};
    case Type::linear: return LinearScaling{required_number(fields, factor)};
    case Type::ntk: return NtkScaling{required_number(fields, factor)};
    case Type::dynamic:
      return DynamicScaling{required_number(fields, factor), fields.required_integer(original),
                            fields.choice(scope, scopes, LengthScope::call),
                            fields.choice(steps, ways_to_step, LengthSteps::every)};
    case Type::yarn: {
      YarnScaling yarn;
      yarn.factor = required_number(fields, factor);
      yarn.original_max_position_embeddings = fields.required_integer(original);
      yarn.beta_fast = fields.number_or_null("beta_fast").value_or(yarn.beta_fast);
      yarn.beta_slow = fields.number_or_null("beta_slow").value_or(yarn.beta_slow);
      yarn.truncate = fields.boolean("truncate").value_or(true) ? Truncate::yes : Truncate::no;
      yarn.mscale = fields.number_or_null("mscale");
      yarn.mscale_all_dim = fields.number_or_null("mscale_all_dim");
      yarn.attention_factor = fields.number_or_null("attention_factor");
      return yarn;
    }
    case Type::longrope: {
      LongropeScaling longrope;
      longrope.original_max_position_embeddings = fields.required_integer(original);
      for (const auto& [name, list] :
           {std::pair("short_factor", &longrope.short_factor), std::pair("long_factor", &longrope.long_factor)}) {
        auto values = fields.numbers(name);
        if (!values) fields.refuse(name, "required");
        *list = *std::move(values);
      }
      longrope.factor = fields.number_or_null(factor);
      longrope.attention_factor = fields.number_or_null("attention_factor");
      longrope.length_scope = fields.choice(scope, scopes, LengthScope::call);
      longrope.short_mscale = fields.number_or_null("short_mscale");
      longrope.long_mscale = fields.number_or_null("long_mscale");
      return longrope;
    }
    case Type::llama3: {
      Llama3Scaling llama3;
      llama3.factor = required_number(fields, factor);
      llama3.original_max_position_embeddings = fields.required_integer(original);
      llama3.low_freq_factor = required_number(fields, "low_freq_factor");
      llama3.high_freq_factor = required_number(fields, "high_freq_factor");
      return llama3;
    }
    case Type::proportional: return ProportionalScaling{fields.number_or_null(factor).value_or(1)};
    case Type::none: return NoTurning{};
  }
  throw SpecError("spec: rope_scaling.rope_type: no value of its enumeration");
}

void refuse(std::string_view name, std::string_view expected) {
  refuse_field(fmt::format("rope_scaling.{}", name), expected);
}

void check_stretch(double value) {
  if (!(value >= 1) || std::isinf(value)) {
    refuse(factor,
           fmt::format("expected a finite number of at least 1 (below 1 it would shorten the context), got {}", value));
  }
}

void check_positive(std::string_view name, double value) {
  if (!(value > 0) || std::isinf(value)) refuse(name, fmt::format("expected a finite number above 0, got {}", value));
}

void check_positive(std::string_view name, const std::optional<double>& value) {
  if (value) check_positive(name, *value);
}

void check_length(std::int64_t value, std::int64_t least) {
  if (value < least || value > position_limit)
    refuse(original, fmt::format("expected an integer from {} to 2^53, got {}", least, value));
}

void check_exponent(const Rope& encoding) {
  if (encoding.rotary_dim <= 2)
    refuse_field("rotary_dim", "expected more than 2: the exponent n/(n-2) of this rope_type divides by n - 2");
}

void check_rule(const DefaultScaling&, const Rope&) {}

void check_rule(const LinearScaling& linear, const Rope&) { check_stretch(linear.factor); }

void check_rule(const NtkScaling& ntk, const Rope& encoding) {
  check_stretch(ntk.factor);
  check_exponent(encoding);
}

void check_rule(const DynamicScaling& dynamic, const Rope& encoding) {
  check_stretch(dynamic.factor);
  check_length(dynamic.original_max_position_embeddings, 1);
  check_exponent(encoding);
}

void check_rule(const YarnScaling& yarn, const Rope& encoding) {
  check_stretch(yarn.factor);
  check_length(yarn.original_max_position_embeddings, 1);
  if (yarn.truncate != Truncate::yes && yarn.truncate != Truncate::no) refuse("truncate", "expected true or false");
  check_positive("beta_fast", yarn.beta_fast);
  check_positive("beta_slow", yarn.beta_slow);
  if (yarn.beta_fast < yarn.beta_slow) {
    refuse("beta_fast",
           fmt::format("expected a number of at least beta_slow = {}, got {}", yarn.beta_slow, yarn.beta_fast));
  }
  if (yarn.beta_fast == yarn.beta_slow && yarn.truncate == Truncate::no) {
    refuse("beta_fast", fmt::format("expected a number above beta_slow = {} where truncate is false: the ramp has no "
                                    "length, got {}",
                                    yarn.beta_slow, yarn.beta_fast));
  }
  check_positive("mscale", yarn.mscale);
  check_positive("mscale_all_dim", yarn.mscale_all_dim);
  check_positive("attention_factor", yarn.attention_factor);
  if (yarn.mscale.has_value() != yarn.mscale_all_dim.has_value()) {
    refuse(yarn.mscale ? "mscale_all_dim" : "mscale", "required: mscale and mscale_all_dim come together");
  }
  if (yarn.mscale && yarn.attention_factor)
    refuse("attention_factor", "contradicts mscale and mscale_all_dim, which make one");
  if (encoding.rope_theta == 1) refuse_field("rope_theta", "expected a number above 1: yarn divides by its logarithm");
}

void check_list(std::string_view name, const std::vector<double>& list, std::int64_t count) {
  if (static_cast<std::int64_t>(list.size()) != count) {
    refuse(name, fmt::format("expected a number for each of the {} pairs, got {}", count, list.size()));
  }
  for (std::size_t i = 0; i < list.size(); ++i) check_positive(fmt::format("{}[{}]", name, i), list[i]);
}

void check_rule(const LongropeScaling& longrope, const Rope& encoding) {
  check_length(longrope.original_max_position_embeddings, 2);
  check_list("short_factor", longrope.short_factor, pairs(encoding));
  check_list("long_factor", longrope.long_factor, pairs(encoding));
  if (longrope.factor) check_stretch(*longrope.factor);
  check_positive("attention_factor", longrope.attention_factor);
  check_positive("short_mscale", longrope.short_mscale);
  check_positive("long_mscale", longrope.long_mscale);
  if (longrope.short_mscale.has_value() != longrope.long_mscale.has_value()) {
    refuse(longrope.short_mscale ? "long_mscale" : "short_mscale",
           "required: short_mscale and long_mscale come together");
  }
  if (longrope.short_mscale && longrope.attention_factor)
    refuse("attention_factor", "contradicts short_mscale and long_mscale, which are in its place");
  if (!longrope.factor && !longrope.attention_factor && !longrope.short_mscale)
    refuse(factor, "required, or attention_factor, or short_mscale and long_mscale");
}

void check_rule(const Llama3Scaling& llama3, const Rope&) {
  check_stretch(llama3.factor);
  check_length(llama3.original_max_position_embeddings, 1);
  check_positive("low_freq_factor", llama3.low_freq_factor);
  check_positive("high_freq_factor", llama3.high_freq_factor);
  if (llama3.high_freq_factor < llama3.low_freq_factor) {
    refuse("high_freq_factor", fmt::format("expected a number of at least low_freq_factor = {}, got {}",
                                           llama3.low_freq_factor, llama3.high_freq_factor));
  }
}

void check_rule(const ProportionalScaling& proportional, const Rope&) { check_positive(factor, proportional.factor); }

void check_rule(const NoTurning&, const Rope&) {}

json or_null(const std::optional<double>& value) { return value ? json(*value) : json(nullptr); }

void write_rule(const DefaultScaling&, nlohmann::ordered_json&) {}

void write_rule(const LinearScaling& linear, nlohmann::ordered_json& object) { object[factor] = linear.factor; }

void write_rule(const NtkScaling& ntk, nlohmann::ordered_json& object) { object[factor] = ntk.factor; }

void write_rule(const DynamicScaling& dynamic, nlohmann::ordered_json& object) {
  object[factor] = dynamic.factor;
  object[original] = dynamic.original_max_position_embeddings;
  object[scope] = text_of(std::string("rope_scaling.") + scope, scopes, dynamic.length_scope);
  object[steps] = text_of(std::string("rope_scaling.") + steps, ways_to_step, dynamic.length_steps);
}

void write_rule(const YarnScaling& yarn, nlohmann::ordered_json& object) {
  object[factor] = yarn.factor;
  object[original] = yarn.original_max_position_embeddings;
  object["beta_fast"] = yarn.beta_fast;
  object["beta_slow"] = yarn.beta_slow;
  object["truncate"] = yarn.truncate == Truncate::yes;
  object["mscale"] = or_null(yarn.mscale);
  object["mscale_all_dim"] = or_null(yarn.mscale_all_dim);
  object["attention_factor"] = or_null(yarn.attention_factor);
}

void write_rule(const LongropeScaling& longrope, nlohmann::ordered_json& object) {
  object[original] = longrope.original_max_position_embeddings;
  object["short_factor"] = longrope.short_factor;
  object["long_factor"] = longrope.long_factor;
  object[factor] = or_null(longrope.factor);
  object["attention_factor"] = or_null(longrope.attention_factor);
  object["short_mscale"] = or_null(longrope.short_mscale);
  object["long_mscale"] = or_null(longrope.long_mscale);
  object[scope] = text_of(std::string("rope_scaling.") + scope, scopes, longrope.length_scope);
}

void write_rule(const Llama3Scaling& llama3, nlohmann::ordered_json& object) {
  object[factor] = llama3.factor;
  object[original] = llama3.original_max_position_embeddings;
  object["low_freq_factor"] = llama3.low_freq_factor;
  object["high_freq_factor"] = llama3.high_freq_factor;
}

void write_rule(const ProportionalScaling& proportional, nlohmann::ordered_json& object) {
  object[factor] = proportional.factor;
}

void write_rule(const NoTurning&, nlohmann::ordered_json&) {}

}  // namespace

std::string_view name_of(const RopeScaling& scaling) {
  return text_of("rope_scaling.rope_type", types, static_cast<Type>(scaling.index()));
}

std::optional<std::int64_t> length_limit(const RopeScaling& scaling) {
  if (const auto* dynamic = std::get_if<DynamicScaling>(&scaling)) return dynamic->original_max_position_embeddings;
  if (const auto* longrope = std::get_if<LongropeScaling>(&scaling)) return longrope->original_max_position_embeddings;
  return std::nullopt;
}

LengthScope length_scope(const RopeScaling& scaling) {
  return std::visit(
      [](const auto& rule) {
        if constexpr (requires { rule.length_scope; }) return rule.length_scope;
        return LengthScope::call;
      },
      scaling);
}

std::optional<std::int64_t> original_length(const RopeScaling& scaling) {
  return std::visit(
      [](const auto& rule) -> std::optional<std::int64_t> {
        if constexpr (requires { rule.original_max_position_embeddings; }) return rule.original_max_position_embeddings;
        return std::nullopt;
      },
      scaling);
}

namespace {

constexpr FieldMeaning field_meanings[] = {
    {"rope_scaling", "the rule that stretches the frequencies to longer sequences: null, or an object with rope_type"},
    {"rope_scaling.rope_type",
     "default, linear, ntk, dynamic, yarn, longrope, llama3 or proportional; none: no pair turns"},
    {"rope_scaling.factor", "s: by how much the rule stretches"},
    {"rope_scaling.original_max_position_embeddings",
     "L: the length that the model was trained on before the rule was applied"},
    {"rope_scaling.length_scope", "dynamic, longrope: whose length decides: of the whole call, or of each batch row"},
    {"rope_scaling.length_steps",
     "dynamic: whether every length beyond L has its own base, or doublings, that of the next L 2^j"},
    {"rope_scaling.beta_fast", "yarn: pairs that turn more often than this within L keep their frequency"},
    {"rope_scaling.beta_slow", "yarn: pairs that turn less often than this within L are slowed by s"},
    {"rope_scaling.truncate", "yarn: whether the ends of the ramp are rounded outward to whole pairs"},
    {"rope_scaling.mscale", "yarn: m in the attention factor (0.1 m ln s + 1) / (0.1 a ln s + 1); null: 0.1 ln s + 1"},
    {"rope_scaling.mscale_all_dim", "yarn: a in that formula"},
    {"rope_scaling.attention_factor", "yarn, longrope: what rotations are multiplied by, instead of the formula"},
    {"rope_scaling.short_factor", "longrope: what each frequency is divided by at lengths up to L"},
    {"rope_scaling.long_factor", "longrope: the same at greater lengths"},
    {"rope_scaling.short_mscale",
     "longrope: what rotations are multiplied by at lengths up to L; null: as at all others"},
    {"rope_scaling.long_mscale", "longrope: the same at greater lengths"},
    {"rope_scaling.low_freq_factor", "llama3: pairs that turn less often than this within L are slowed by s"},
    {"rope_scaling.high_freq_factor", "llama3: pairs that turn more often than this within L keep their frequency"},
};

}  // namespace

std::span<const FieldMeaning> rope_scaling_fields() { return field_meanings; }

RopeScaling read_rope_scaling(Fields& fields) {
  const json* object = fields.object("rope_scaling");
  if (object == nullptr) return DefaultScaling{};
  Fields inner(*object, "rope_scaling.");
  if (!inner.has("rope_type") && inner.has("type"))
    inner.refuse("type", "unknown field: in a spec it is called rope_type");
  if (!inner.has("rope_type")) inner.refuse("rope_type", "required");
  RopeScaling scaling = read_type(inner, inner.choice("rope_type", types, Type::default_rope));
  inner.finish();
  return scaling;
}

void check_rope_scaling(const Rope& encoding) {
  const bool spread = encoding.rotary_layout == RotaryLayout::spread;
  const bool proportional = std::holds_alternative<ProportionalScaling>(encoding.rope_scaling);
  if (proportional && !spread)
    refuse_field("rotary_layout", "expected spread: rope_type proportional spreads the pairs over the head");
  if (spread && !proportional && !std::holds_alternative<DefaultScaling>(encoding.rope_scaling) &&
      !std::holds_alternative<NoTurning>(encoding.rope_scaling)) {
    refuse_field("rotary_layout",
                 fmt::format("spread is defined for rope_type default, proportional and none, not for {}",
                             name_of(encoding.rope_scaling)));
  }
  std::visit([&](const auto& rule) { check_rule(rule, encoding); }, encoding.rope_scaling);
}

void write_rope_scaling(const RopeScaling& scaling, nlohmann::ordered_json& object) {
  if (std::holds_alternative<DefaultScaling>(scaling)) {
    object["rope_scaling"] = nullptr;
    return;
  }
  nlohmann::ordered_json inner;
  inner["rope_type"] = name_of(scaling);
  std::visit([&](const auto& rule) { write_rule(rule, inner); }, scaling);
  object["rope_scaling"] = std::move(inner);
}

}  // namespace sextant
