#include "lib/spec/hugging_face/value_types.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <string_view>

namespace sextant::hugging_face {
namespace {

using nlohmann::json;

// transformers 5.24, by measurement (ci/model_configs/measure --values): classes hold a file's values against their
// annotations, and take no float for an int, whole or not, no number for a bool and no bool for a number.

// At least 1: by 0 or less classes divide, or make no model.
constexpr std::string_view counts[] = {
    "d_kv",    "d_model", "embed_dim", "global_head_dim",     "hidden_size",       "n_embd",    "n_embed", "n_head",
    "n_heads", "n_layer", "n_layers",  "num_attention_heads", "num_hidden_layers", "num_layers"};

constexpr std::string_view integers[] = {"clamp_len",
                                         "decoder_hidden_size",
                                         "floor_scale",
                                         "head_dim",
                                         "in_channels",
                                         "local_attention",
                                         "max_position_embeddings",
                                         "max_rel_pos",
                                         "max_relative_positions",
                                         "max_seq_len",
                                         "max_source_positions",
                                         "max_target_positions",
                                         "max_window_layers",
                                         "n_positions",
                                         "no_rope_layer_interval",
                                         "num_channels",
                                         "num_key_value_heads",
                                         "num_kv_heads",
                                         "num_register_tokens",
                                         "original_max_position_embeddings",
                                         "pad_token_id",
                                         "pos_emb_height",
                                         "pos_emb_width",
                                         "position_buckets",
                                         "position_embedding_size",
                                         "qk_nope_head_dim",
                                         "qk_rope_head_dim",
                                         "rel_pos_bins",
                                         "relative_attention_max_distance",
                                         "relative_attention_num_buckets",
                                         "rotary_dim",
                                         "sliding_window",
                                         "spatial_merge_size",
                                         "v_head_dim",
                                         "window_size"};

// Of some classes a list of them.
constexpr std::string_view integers_or_lists[] = {"image_size", "patch_size", "temporal_patch_size"};

constexpr std::string_view lists[] = {"depths", "full_attn_idxs", "merge_kernel_size", "no_rope_layers"};

constexpr std::string_view switches[] = {"alibi",
                                         "bi_data",
                                         "has_relative_attention_bias",
                                         "position_biased_input",
                                         "relative_attention",
                                         "rope_interleave",
                                         "rotary",
                                         "use_absolute_embeddings",
                                         "use_absolute_position_embeddings",
                                         "use_relative_position_bias",
                                         "use_shared_relative_position_bias",
                                         "use_sliding_window"};

bool is_integer(const json& value) { return value.is_number_integer(); }

bool is_count(const json& value) { return is_integer(value) && value >= 1; }

bool is_list(const json& value) { return value.is_array() && std::ranges::all_of(value, is_integer); }

bool is_integer_or_list(const json& value) { return is_integer(value) || is_list(value); }

bool is_integer_or_text(const json& value) { return is_integer(value) || value.is_string(); }

bool is_name(const json& value) { return value.is_string() && value != ""; }

bool is_object(const json& value) { return value.is_object(); }

bool is_switch(const json& value) { return value.is_boolean(); }

bool is_float(const json& value) { return value.is_number_float(); }

void expect(const ConfigObject& config, std::string_view name, bool (*is_taken)(const json&),
            std::string_view expected) {
  const auto stated = config.fields().find(std::string(name));
  if (stated == config.fields().end() || stated->is_null() || is_taken(*stated)) return;
  config.refuse(std::string(name), fmt::format("expected {}, got {}", expected, stated->dump()));
}

}  // namespace

void refuse_other_types(const Part& part) {
  for (const std::string_view name : counts) expect(part.config, name, is_count, "an integer of at least 1");
  for (const std::string_view name : integers) expect(part.config, name, is_integer, "an integer");
  for (const std::string_view name : integers_or_lists)
    expect(part.config, name, is_integer_or_list, "an integer, or a list of them");
  for (const std::string_view name : lists) expect(part.config, name, is_list, "a list of integers");
  // Llama 4's first files have 4, which its class takes no more.
  expect(part.config, "attn_temperature_tuning", is_switch, "true or false (4, of Llama 4's first files, means true)");
  for (const std::string_view name : switches) expect(part.config, name, is_switch, "true or false");
  for (const char* name : {"dtype", "torch_dtype"}) expect(part.config, name, is_name, "a string");
  for (const char* name : {"rope_parameters", "rope_scaling"}) expect(part.config, name, is_object, "an object");
  expect(part.config, "sliding_window_pattern", is_integer_or_text, "an integer");
  // A Swin has heads of each stage.
  const bool has_stages = part.model_type.ends_with("swin") || part.model_type == "swinv2";
  expect(part.config, "num_heads", has_stages ? is_list : is_count,
         has_stages ? "a list of integers" : "an integer of at least 1");
  if (part.model_type == "xlnet") expect(part.config, "max_position_embeddings", is_count, "an integer of at least 1");
  // Three classes take no integer for a float.
  const bool has_float = part.model_type == "dinov3_vit" || part.model_type == "esm";
  if (has_float) expect(part.config, "rope_theta", is_float, "a number with a decimal point");
  if (part.model_type == "llama4_text") expect(part.config, "attn_scale", is_float, "a number with a decimal point");
}

}  // namespace sextant::hugging_face
