#include "lib/spec/hf_config.hpp"

#include "lib/numeric/standard_arithmetic.hpp"
#include "lib/spec/fields.hpp"

namespace sextant {
namespace {

using nlohmann::json;

// transformers 5 moved rope_theta and partial_rotary_factor into rope_parameters; older files have them at top level
// and call the rule rope_scaling, with its type under rope_type or, older still, type.
struct Scaling {
  std::optional<double> rope_theta;
  std::optional<double> partial_rotary_factor;
  json rule = nullptr;  // as parse_spec reads rope_scaling
};

std::string read_rope_type(Fields& fields) {
  const auto type = fields.text("rope_type");
  const auto older = fields.text("type");
  if (type && older && *type != *older)
    fields.refuse("type", fmt::format(R"("{}" contradicts rope_type "{}")", *older, *type));
  const std::string name = type ? *type : older.value_or("default");
  // The name that Phi-3's first files gave to LongRoPE.
  return name == "su" ? "longrope" : name;
}

// L: at top level in Phi-3's files, inside the rule in most, and where neither has it Hugging Face takes
// max_position_embeddings, which for `dynamic` it always does.
void fill_original_length(Fields& config, const std::string& name, const std::string& type, json& rule) {
  constexpr const char* original = "original_max_position_embeddings";
  if (type != "yarn" && type != "longrope" && type != "llama3" && type != "dynamic") return;
  const auto longest = config.integer_or_null("max_position_embeddings");
  const auto outer = type == "dynamic" ? longest : config.integer_or_null(original);
  const auto filled = outer ? outer : longest;
  if (!rule.contains(original)) {
    if (filled) rule[original] = *filled;
  } else if (outer && rule[original] != *outer) {
    config.refuse(name + "." + original, fmt::format("{} contradicts the model's {}", rule[original].dump(), *outer));
  }
  // s is then the ratio of the two lengths (DeepSeek, Phi-3), the double nearest to it.
  const bool takes_ratio = type == "yarn" || type == "longrope";
  if (takes_ratio && !rule.contains("factor") && longest && rule.contains(original) && rule[original].is_number() &&
      rule[original] != 0) {
    rule["factor"] = static_cast<double>(*longest) / rule[original].get<double>();
  }
}

Scaling read_scaling(Fields& config, const std::string& name) {
  const json* object = config.object(name);
  if (object == nullptr) return {};
  Fields fields(*object, name + ".");
  for (const auto& [key, value] : object->items()) {
    if (value.is_object())
      fields.refuse(key, "each kind of layer has a rule of its own; pass one of them as rope_parameters");
  }
  const std::string type = read_rope_type(fields);
  Scaling scaling{fields.number_or_null("rope_theta"), fields.number_or_null("partial_rotary_factor")};
  scaling.rule = *object;
  // `finetuned` tells how the weights were made, and a null says nothing.
  for (const char* read : {"type", "rope_theta", "partial_rotary_factor", "finetuned"}) scaling.rule.erase(read);
  for (auto entry = scaling.rule.begin(); entry != scaling.rule.end();) {
    entry = entry->is_null() ? scaling.rule.erase(entry) : std::next(entry);
  }
  scaling.rule["rope_type"] = type;
  fill_original_length(config, name, type, scaling.rule);
  return scaling;
}

std::int64_t read_head_dim(Fields& config) {
  if (const json* value = config.object("text_config"); value != nullptr) {
    config.refuse("text_config", "a multi-modal model's file; pass its text_config by itself");
  }
  // DeepSeek rotates a part of its heads, and states that part's width.
  if (const auto rotated = config.integer_or_null("qk_rope_head_dim")) return *rotated;
  if (const auto head_dim = config.integer_or_null("head_dim")) return *head_dim;
  const auto hidden_size = config.integer(config.has("n_embd") ? "n_embd" : "hidden_size");
  const auto heads = config.integer(config.has("n_head") ? "n_head" : "num_attention_heads");
  if (!hidden_size || !heads) config.refuse("head_dim", "required, or hidden_size and num_attention_heads");
  if (*heads <= 0 || *hidden_size % *heads != 0) {
    config.refuse("hidden_size", fmt::format("{} is no multiple of num_attention_heads = {}", *hidden_size, *heads));
  }
  return *hidden_size / *heads;
}

}  // namespace

Spec spec_from_hf_config(std::string_view text) {
  const StandardArithmetic arithmetic;
  const json object = parse_object(text, "config");
  Fields config(object, "");
  const Scaling parameters = read_scaling(config, "rope_parameters");
  const Scaling scaling = read_scaling(config, "rope_scaling");
  if (!parameters.rule.is_null() && !scaling.rule.is_null() && parameters.rule != scaling.rule) {
    config.refuse("rope_scaling", "contradicts rope_parameters");
  }

  // Rewritten as a spec and read by parse_spec, so that one place decides what is in the domain.
  json spec = {{"encoding", "rope"}, {"head_dim", read_head_dim(config)}};
  const auto theta = config.number("rope_theta");
  if (theta || parameters.rope_theta || scaling.rope_theta) {
    spec["rope_theta"] = theta ? *theta : parameters.rope_theta ? *parameters.rope_theta : *scaling.rope_theta;
  }
  auto factor = config.number("partial_rotary_factor");
  if (!factor) factor = config.number("rotary_pct");
  if (!factor) factor = parameters.partial_rotary_factor;
  if (!factor) factor = scaling.partial_rotary_factor;
  if (factor) spec["partial_rotary_factor"] = *factor;
  if (const auto rotary_dim = config.integer_or_null("rotary_dim")) spec["rotary_dim"] = *rotary_dim;
  auto max_position = config.integer("max_position_embeddings");
  if (!max_position) max_position = config.integer("n_positions");
  if (max_position) spec["max_position"] = *max_position;
  const std::string model = config.text("model_type").value_or("");
  if (model == "gptj" || model == "codegen" || model == "deepseek_v2" || model == "deepseek_v3")
    spec["pairing"] = "interleaved";
  if (model == "deepseek_v3") spec["output_pairing"] = "half";
  const json& rule = parameters.rule.is_null() ? scaling.rule : parameters.rule;
  if (!rule.is_null()) spec["rope_scaling"] = rule;
  auto dtype = config.text_or_null("dtype");
  if (!dtype) dtype = config.text_or_null("torch_dtype");
  if (dtype) spec["dtype"] = *dtype;
  // transformers casts cosines and sines to the dtype of x, and forms x * cos + rotate_half(x) * sin in it.
  if (dtype == "float16" || dtype == "bfloat16") spec["evaluation"] = "dtype";
  return parse_spec(spec.dump());
}

}  // namespace sextant
