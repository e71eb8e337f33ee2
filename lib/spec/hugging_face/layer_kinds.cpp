#include "lib/spec/hugging_face/layer_kinds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>

namespace sextant::hugging_face {
namespace {

// No model has as many layers by orders of magnitude.
constexpr std::int64_t layers_limit = 1 << 16;

std::int64_t count_of_layers(const RotaryModel& model, const ConfigObject& config) {
  const auto count = config.integer({"num_hidden_layers", model.traits.names.layers});
  if (!count) return model.sizes.layers;
  if (count->value < 1 || count->value > layers_limit)
    config.refuse("num_hidden_layers",
                  fmt::format("expected an integer from 1 to {}, got {}", layers_limit, count->value));
  return count->value;
}

void check_length(const ConfigObject& config, const char* name, std::int64_t listed, std::int64_t count) {
  if (listed != count)
    config.refuse(name, fmt::format("expected an entry for each of the {} layers, got {}", count, listed));
}

std::vector<std::string> names_by_pattern(const RotaryModel& model, const ConfigObject& config, std::int64_t count) {
  const LayerPattern& pattern = model.traits.pattern;
  std::vector<std::string> names(static_cast<std::size_t>(count), "full_attention");
  const bool has_none = pattern.full == LayerPattern::Full::none;
  if (has_none) names.assign(names.size(), std::string(pattern.other));
  // LFM2's first files and Bamba's list the layers that have attention.
  const std::string_view field = pattern.field;
  if (field == "full_attn_idxs" || field == "attn_layer_indices") {
    const auto indices = config.integers({pattern.field});
    if (!indices) return names;
    names.assign(names.size(), std::string(pattern.other));
    for (const std::int64_t index : indices->value) {
      if (index < 0 || index >= count)
        config.refuse(pattern.field, fmt::format("expected layers from 0 to {}, got {}", count - 1, index));
      names[static_cast<std::size_t>(index)] = "full_attention";
    }
    return names;
  }
  if (has_none || pattern.every == 0) return names;
  std::int64_t every = pattern.every;
  if (*pattern.field != '\0') {
    if (config.has(pattern.field) && config.fields().at(pattern.field).is_string())
      config.refuse(pattern.field, fmt::format("expected an integer, got {}: list the kinds as layer_types",
                                               config.fields().at(pattern.field).dump()));
    if (const auto stated = config.integer({pattern.field})) every = stated->value;
  }
  if (every < 1) config.refuse(pattern.field, fmt::format("expected an integer of at least 1, got {}", every));
  for (std::int64_t layer = 0; layer < count; ++layer) {
    const std::int64_t at = pattern.full == LayerPattern::Full::last_of_each ? layer + 1 : layer;
    if (at % every != 0) names[static_cast<std::size_t>(layer)] = pattern.other;
  }
  return names;
}

// Llama 4's and SmolLM 3's list says 1 for a layer that turns.
std::vector<std::string> names_by_rope(const RotaryModel& model, const ConfigObject& config, std::int64_t count) {
  std::vector<std::string> names(static_cast<std::size_t>(count), "rope");
  const auto turns = config.integers({"no_rope_layers"});
  const auto interval = config.integer({"no_rope_layer_interval"});
  const std::int64_t every = interval ? interval->value : 4;
  if (every < 1)
    config.refuse("no_rope_layer_interval", fmt::format("expected an integer of at least 1, got {}", every));
  const bool is_listed = turns && !(turns->value.empty() && model.traits.no_rope_layers == EmptyList::absent);
  if (is_listed) check_length(config, "no_rope_layers", std::ssize(turns->value), count);
  for (std::int64_t layer = 0; layer < count; ++layer) {
    const bool stands = is_listed ? turns->value[static_cast<std::size_t>(layer)] == 0 : (layer + 1) % every == 0;
    if (stands) names[static_cast<std::size_t>(layer)] = "no_rope";
  }
  return names;
}

// Older names, which transformers takes for those of its release 5.
std::string kind_named(const std::string& name) {
  return name == "attention" ? "full_attention" : name == "mamba" ? "linear_attention" : name;
}

std::vector<std::string> names_of_layers(const RotaryModel& model, const ConfigObject& config, std::int64_t count) {
  if (model.traits.layering == Layering::no_rope_layers) return names_by_rope(model, config, count);
  if (const auto listed = config.texts({"layer_types"})) {
    std::vector<std::string> names;
    std::ranges::transform(listed->value, std::back_inserter(names), kind_named);
    return names;
  }
  if (config.has("attn_type_list"))
    config.refuse_meaning("attn_type_list", "not read by transformers: list the kinds as layer_types");
  return names_by_pattern(model, config, count);
}

}  // namespace

// configuration_utils.py, ALLOWED_LAYER_TYPES and _LEGACY_LAYER_TYPE_REMAP.
void check_kinds_of_layers(const ConfigObject& config) {
  constexpr std::string_view known[] = {"full_attention",
                                        "sliding_attention",
                                        "chunked_attention",
                                        "window_attention",
                                        "indexed_attention",
                                        "compressed_sparse_attention",
                                        "heavily_compressed_attention",
                                        "minimax_m3_sparse",
                                        "conv",
                                        "moe",
                                        "hybrid",
                                        "hybrid_sliding",
                                        "reference_sliding_attention",
                                        "linear_attention",
                                        "sparse",
                                        "dense",
                                        "attention",
                                        "mamba",
                                        "deepseek_sparse_attention",
                                        "qwen_sparse_attention"};
  const auto listed = config.fields().find("layer_types");
  if (listed == config.fields().end() || listed->is_null()) return;
  if (!listed->is_array())
    config.refuse("layer_types", fmt::format("expected a list of strings, got {}", listed->dump()));
  for (const auto& entry : *listed) {
    const auto* const name = entry.get_ptr<const std::string*>();
    if (name == nullptr || std::ranges::find(known, *name) == std::end(known))
      config.refuse("layer_types", fmt::format("expected kinds of layers that transformers knows (full_attention, "
                                               "sliding_attention, linear_attention, conv, ...), got {}",
                                               entry.dump()));
  }
}

namespace {

// Bamba's and Falcon-H1's classes tell the kinds themselves, and fail where a file does; GraniteMoeHybrid's has an
// older name for the list.
void refuse_other_lists(const RotaryModel& model, const ConfigObject& config) {
  const bool has_own = model.model_type == "bamba" || model.model_type == "falcon_h1";
  for (const char* name : {"layer_types", "layers_block_type"}) {
    if (has_own && config.fields().contains(name))
      config.refuse_meaning(name, fmt::format("transformers' {} fails where a file has it", model.model_type));
  }
  if (model.traits.turns == Switch::position_embedding_type && config.has("layers_block_type"))
    config.refuse("layers_block_type", "not read: list the kinds as layer_types");
}

}  // namespace

std::vector<LayerKind> layer_kinds(const RotaryModel& model, const ConfigObject& config) {
  refuse_other_lists(model, config);
  const std::int64_t count = count_of_layers(model, config);
  // transformers checks it of every class. A class that takes nothing from it has not read it.
  const auto listed = config.fields().find("layer_types");
  if (listed != config.fields().end() && !listed->is_null() && rotary_model(model.model_type) != nullptr) {
    check_kinds_of_layers(config);
    check_length(config, "layer_types", static_cast<std::int64_t>(listed->size()), count);
  }
  std::vector<std::string> names(static_cast<std::size_t>(count));
  if (model.traits.layering != Layering::alike) names = names_of_layers(model, config, count);
  if (model.traits.full_head_dim != 0) names.back() = "full_attention";  // Gemma 4's class sees to that
  std::vector<LayerKind> kinds;
  for (std::int64_t layer = 0; layer < count; ++layer) {
    const std::string& name = names[static_cast<std::size_t>(layer)];
    auto kind = std::ranges::find(kinds, name, &LayerKind::name);
    if (kind == kinds.end()) kind = kinds.insert(kinds.end(), {name, {}});
    kind->layers.push_back(layer);
  }
  return kinds;
}

std::optional<std::int64_t> layer_index(std::string_view text) {
  std::int64_t index = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, index);
  return error == std::errc() && rest == end && index >= 0 ? std::optional(index) : std::nullopt;
}

}  // namespace sextant::hugging_face
