#include "lib/spec/hf_config.hpp"

#include "lib/spec/fields.hpp"

namespace sextant {
namespace {

using nlohmann::json;

// transformers 5 moved rope_theta and partial_rotary_factor into rope_parameters; older files have them at top level
// and call the rule rope_scaling, with its type under rope_type or, older still, type.
struct Scaling {
  std::optional<double> rope_theta;
  std::optional<double> partial_rotary_factor;
};

Scaling read_scaling(Fields& config, const std::string& name) {
  const json* object = config.object(name);
  if (object == nullptr) return {};
  Fields fields(*object, name + ".");
  constexpr Names<int, 1> known{{{"default", 0}}};
  fields.choice("type", known, 0);
  fields.choice("rope_type", known, 0);
  Scaling scaling{fields.number("rope_theta"), fields.number("partial_rotary_factor")};
  fields.finish();
  return scaling;
}

std::int64_t read_head_dim(Fields& config) {
  if (const json* value = config.object("text_config"); value != nullptr) {
    config.refuse("text_config", "a multi-modal model's file; pass its text_config by itself");
  }
  if (const auto head_dim = config.integer_or_null("head_dim")) return *head_dim;
  const auto hidden_size = config.integer(config.has("n_embd") ? "n_embd" : "hidden_size");
  const auto heads = config.integer(config.has("n_head") ? "n_head" : "num_attention_heads");
  if (!hidden_size || !heads) config.refuse("head_dim", "needed, or hidden_size and num_attention_heads");
  if (*heads <= 0 || *hidden_size % *heads != 0) {
    config.refuse("hidden_size", fmt::format("{} is no multiple of num_attention_heads = {}", *hidden_size, *heads));
  }
  return *hidden_size / *heads;
}

}  // namespace

Spec spec_from_hf_config(std::string_view text) {
  const json object = parse_object(text, "config");
  Fields config(object, "");
  const Scaling parameters = read_scaling(config, "rope_parameters");
  const Scaling scaling = read_scaling(config, "rope_scaling");

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
  if (model == "gptj" || model == "codegen") spec["pairing"] = "interleaved";
  auto dtype = config.text_or_null("dtype");
  if (!dtype) dtype = config.text_or_null("torch_dtype");
  if (dtype) spec["dtype"] = *dtype;
  return parse_spec(spec.dump());
}

}  // namespace sextant
