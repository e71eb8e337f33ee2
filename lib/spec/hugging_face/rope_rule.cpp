#include "lib/spec/hugging_face/rope_rule.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "lib/spec/fields.hpp"

namespace sextant::hugging_face {
namespace {

using nlohmann::json;

constexpr const char* original_field = "original_max_position_embeddings";
constexpr const char* factor_field = "factor";

// Those of transformers, by their names there.
constexpr std::string_view types[] = {"default", "linear", "dynamic", "yarn", "longrope", "llama3", "proportional"};

// What a rule has, so that an object in its place is no rule of a kind of layers.
constexpr std::string_view fields_of_rules[] = {"rope_type",
                                                "type",
                                                "rope_theta",
                                                "factor",
                                                original_field,
                                                "beta_fast",
                                                "beta_slow",
                                                "truncate",
                                                "mscale",
                                                "mscale_all_dim",
                                                "attention_factor",
                                                "short_factor",
                                                "long_factor",
                                                "short_mscale",
                                                "long_mscale",
                                                "low_freq_factor",
                                                "high_freq_factor",
                                                "mrope_section",
                                                "partial_rotary_factor"};

// Sections are a field of the default rule; "su" is the name that Phi-3's first files gave to LongRoPE.
std::string rule_named(const std::string& name) {
  return name == "mrope" ? "default" : name == "su" ? "longrope" : name;
}

std::string type_of(const ConfigObject& rule) {
  const auto type = rule.text({"rope_type"});
  const auto older = rule.text({"type"});
  if (type && older && rule_named(type->value) != rule_named(older->value))
    rule.refuse_meaning("type", fmt::format("\"{}\" contradicts rope_type \"{}\"", older->value, type->value));
  return type ? rule_named(type->value) : older ? rule_named(older->value) : "default";
}

// Python takes 0 for absent in `beta_fast or 32` and `if mscale and mscale_all_dim`.
void drop_zero(json& scaling, const char* name) {
  if (scaling.contains(name) && scaling[name].is_number() && scaling[name] == 0) scaling.erase(name);
}

void read_yarn(json& scaling) {
  for (const char* name : {"beta_fast", "beta_slow", "mscale", "mscale_all_dim"}) drop_zero(scaling, name);
  const bool both = scaling.contains("mscale") && scaling.contains("mscale_all_dim");
  if (scaling.contains("attention_factor") || !both) {
    scaling.erase("mscale");
    scaling.erase("mscale_all_dim");
  }
}

// L: at top level in Phi-3's files, inside the rule in most; where neither has it transformers takes
// max_position_embeddings, which for `dynamic` it always does.
void fill_lengths(const ConfigObject& rule, const std::string& type, const ModelLengths& lengths, json& scaling,
                  std::vector<FieldSource>& sources) {
  const bool has_length = type == "yarn" || type == "longrope" || type == "llama3" || type == "dynamic";
  if (!has_length) return;
  const auto outer = type == "dynamic" ? lengths.longest : lengths.original;
  const auto inner = rule.whole_number({original_field});
  if (inner && outer && inner->value != outer->value)
    rule.refuse_meaning(original_field,
                        fmt::format("{} contradicts {} ({})", inner->value, outer->value, outer->source));
  const Read<std::int64_t> used = inner ? *inner : outer.value_or(lengths.longest);
  scaling[original_field] = used.value;
  sources.push_back({original_field, used.source});
  // s is then the ratio of the two lengths (DeepSeek, Phi-3), the double nearest to it.
  const bool takes_ratio = type == "yarn" || type == "longrope";
  if (takes_ratio && !scaling.contains(factor_field) && scaling[original_field] != 0) {
    scaling[factor_field] = static_cast<double>(lengths.longest.value) / scaling[original_field].get<double>();
    sources.push_back({factor_field, fmt::format("{} / {}", lengths.longest.source, used.source)});
  }
}

}  // namespace

RopeRule read_rule(const ConfigObject& rule, const ModelLengths& lengths) {
  // transformers takes a null for the base or the share, and fails.
  for (const char* name : {"rope_theta", "partial_rotary_factor"}) {
    if (rule.fields().contains(name) && !rule.has(name)) rule.refuse(name, "expected a number, got null");
  }
  rule.refuse_nulls({"rope_type"}, "a string", "which transformers takes for the rule's name, whatever type says");
  RopeRule read{.scaling = rule.fields(),
                .source = "",
                .sources = {},
                .rope_theta = rule.number({"rope_theta"}),
                .partial_rotary_factor = rule.number({"partial_rotary_factor"}),
                .mrope_section = rule.integers({"mrope_section"}),
                .mrope_interleaved = rule.boolean({"mrope_interleaved", "interleaved"}),
                .query_scale = rule.number({"llama_4_scaling_beta"}),
                .type = rule.has("rope_type") ? rule.text({"rope_type"}) : rule.text({"type"})};
  const std::string type = type_of(rule);
  const char* const type_name = rule.has("rope_type") ? "rope_type" : "type";
  // Rules that a spec knows by names which no class of transformers does.
  if (type == "none" || type == "ntk")
    rule.refuse_meaning(type_name, fmt::format("\"{}\" is not known to transformers", type));
  if (std::ranges::find(types, type) == std::end(types)) {
    rule.refuse(type_name, fmt::format("expected one of {}, got {}", fmt::join(types, ", "), json(type).dump()));
  }
  // `finetuned` tells how the weights were made; Ministral's rule repeats max_position_embeddings.
  for (const char* name : {"type", "rope_theta", "partial_rotary_factor", "mrope_section", "mrope_interleaved",
                           "interleaved", "llama_4_scaling_beta", "max_position_embeddings", "finetuned"}) {
    read.scaling.erase(name);
  }
  std::erase_if(read.scaling.get_ref<json::object_t&>(), [](const auto& field) { return field.second.is_null(); });
  read.scaling["rope_type"] = type;
  if (type == "yarn") {
    // A null is the ratio of the lengths.
    if (!rule.fields().contains(factor_field))
      rule.refuse_meaning(type_name, fmt::format("yarn without a {}, which transformers refuses", factor_field));
    // `truncate` is read by its truth, and absent it is true.
    if (rule.fields().contains("truncate") && !rule.has("truncate")) read.scaling["truncate"] = false;
    read_yarn(read.scaling);
  }
  fill_lengths(rule, type, lengths, read.scaling, read.sources);
  for (const auto& [name, value] : read.scaling.items()) {
    const std::string stated = name == "rope_type" && !rule.has(name) && rule.has("type") ? "type" : name;
    const bool is_known = std::ranges::find(read.sources, name, &FieldSource::field) != read.sources.end();
    if (!is_known && rule.fields().contains(stated)) read.sources.push_back({name, rule.source(stated)});
  }
  return read;
}

namespace {

std::optional<RopeRule> rule_under(const ConfigObject& model, const char* name, const ModelLengths& lengths) {
  const auto object = model.object(name);
  if (!object || object->fields().empty()) return std::nullopt;
  for (const auto& [key, value] : object->fields().items()) {
    if (value.is_object() && std::ranges::find(fields_of_rules, key) == std::end(fields_of_rules))
      model.refuse_meaning(name,
                           fmt::format("\"{}\" has a rule of its own, which no {} has: state one for all layers", key,
                                       model.text({"model_type"}).value_or(Read<std::string>{"model", ""}).value));
  }
  RopeRule rule = read_rule(*object, lengths);
  rule.source = model.source(name);
  return rule;
}

template <class T>
void fill(std::optional<Read<T>>& first, const std::optional<Read<T>>& second, const ConfigObject& model) {
  if (first && second && first->value != second->value)
    model.refuse_meaning("rope_scaling",
                         fmt::format("contradicts rope_parameters ({}; {})", second->source, first->source));
  if (first && !second) {
    model.refuse_meaning("rope_scaling",
                         fmt::format("transformers takes it for rope_parameters, and leaves out {}", first->source));
  }
  if (!first) first = second;
}

}  // namespace

RopeRule rule_of(const ConfigObject& model, const ModelLengths& lengths) {
  auto parameters = rule_under(model, "rope_parameters", lengths);
  const auto scaling = rule_under(model, "rope_scaling", lengths);
  if (!parameters) return scaling.value_or(RopeRule{});
  if (!scaling) return *std::move(parameters);
  if (parameters->scaling != scaling->scaling) model.refuse_meaning("rope_scaling", "contradicts rope_parameters");
  fill(parameters->rope_theta, scaling->rope_theta, model);
  fill(parameters->partial_rotary_factor, scaling->partial_rotary_factor, model);
  fill(parameters->mrope_section, scaling->mrope_section, model);
  fill(parameters->mrope_interleaved, scaling->mrope_interleaved, model);
  fill(parameters->query_scale, scaling->query_scale, model);
  return *std::move(parameters);
}

Read<std::int64_t> served_positions(const RopeRule& rule, const ModelLengths& lengths) {
  const json& scaling = rule.scaling;
  const auto is_number = [&](const char* name) { return scaling.contains(name) && scaling[name].is_number(); };
  if (!is_number(factor_field) || !is_number(original_field)) return lengths.longest;
  const double served = scaling[factor_field].get<double>() * scaling[original_field].get<double>();
  // Beyond 2^53 no position is exact; what is no number of positions parse_spec refuses by its own name.
  if (!(served > static_cast<double>(lengths.longest.value) && served <= std::ldexp(1.0, 53))) return lengths.longest;
  return {static_cast<std::int64_t>(served),
          fmt::format("{}: factor times original length, beyond the {} of {} (--max-position says where a cache ends)",
                      rule.source, lengths.longest.value, lengths.longest.source)};
}

}  // namespace sextant::hugging_face
