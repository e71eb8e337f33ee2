#include "lib/spec/hugging_face/null_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <vector>

namespace sextant::hugging_face {
namespace {

// A field and the model_types that do not take a null of it, in the order of the alphabet.
struct NullField {
  const char* name;
  std::vector<std::string_view> model_types;
};

// Sizes that no class takes a null for, and one switch.
constexpr std::initializer_list<const char*> of_every_type = {
    "d_kv",         "d_model",   "embed_dim",         "hidden_size", "in_channels",
    "n_head",       "n_heads",   "n_layer",           "n_layers",    "num_attention_heads",
    "num_channels", "num_heads", "num_hidden_layers", "num_layers",  "use_sliding_window"};

// transformers 5.24, by measurement (ci/model_configs/measure --nulls): an annotation without None, or code that
// computes with the field. Fields whose readers refuse a null of any type are not listed.
const std::vector<NullField>& of_some_types() {
  static const std::vector<NullField> fields = {
      {"head_dim", {"falcon", "longt5", "mt5", "t5", "umt5"}},
      {"local_attention", {"modernbert"}},
      {"max_position_embeddings", {"gemma4_vision", "xlnet"}},
      {"max_window_layers", {"qwen2", "qwen2_5_omni_text", "qwen2_moe", "qwen3"}},
      {"merge_kernel_size", {"kimi_k25_vision"}},
      {"num_key_value_heads",
       {"deepseek_v32",
        "ernie4_5_moe",
        "exaone4",
        "gemma",
        "gemma2",
        "gemma3_text",
        "gemma3n_text",
        "gemma4_text",
        "gemma4_vision",
        "glm",
        "glm4",
        "glm4_moe",
        "glm4_moe_lite",
        "glm4v_moe_text",
        "gpt_oss",
        "helium",
        "jamba",
        "lfm2",
        "llama4_text",
        "minimax",
        "minimax_m2",
        "ministral",
        "ministral3",
        "mistral",
        "mixtral",
        "nemotron",
        "qwen2_moe",
        "qwen3_5_moe_text",
        "qwen3_5_text",
        "qwen3_moe",
        "qwen3_next",
        "qwen3_omni_moe_text",
        "qwen3_vl_moe_text",
        "stablelm",
        "starcoder2",
        "whisper"}},
      {"num_register_tokens", {"dinov3_vit"}},
      {"pad_token_id", {"led", "nomic_bert"}},
      {"patch_size", {"layoutlmv3"}},
      {"pos_emb_height", {"kimi_k25_vision"}},
      {"pos_emb_width", {"kimi_k25_vision"}},
      {"position_embedding_size", {"gemma4_vision"}},
      {"position_embedding_type", {"esm"}},
      {"qk_nope_head_dim",
       {"deepseek_v2", "deepseek_v3", "deepseek_v32", "glm4_moe_lite", "kimi_linear", "minicpm3", "mistral4"}},
      {"rope_scaling", {"gemma4_text"}},
      {"rope_theta", {"esm"}},
      {"rotary", {"falcon"}},
      {"sliding_window",
       {"gemma2", "gemma3_text", "gemma3n_text", "gemma4_text", "gpt_oss", "ministral", "modernbert", "olmo3"}},
      {"spatial_merge_size",
       {"glm4v_moe_vision", "glm4v_vision", "qwen2_5_omni_vision_encoder", "qwen2_5_vl_vision", "qwen2_vl_vision",
        "qwen3_5_moe_vision", "qwen3_5_vision", "qwen3_omni_moe_vision_encoder", "qwen3_vl_moe_vision",
        "qwen3_vl_vision"}},
      {"temporal_patch_size",
       {"glm4v_moe_vision", "glm4v_vision", "qwen2_5_omni_vision_encoder", "qwen2_5_vl_vision", "qwen2_vl_vision",
        "qwen3_5_moe_vision", "qwen3_5_vision", "qwen3_omni_moe_vision_encoder", "qwen3_vl_moe_vision",
        "qwen3_vl_vision"}},
      {"v_head_dim", {"deepseek_v2", "deepseek_v3", "deepseek_v32", "glm4_moe_lite", "kimi_linear", "mistral4"}},
      {"window_size",
       {"donut-swin", "gpt_neo", "maskformer-swin", "qwen2_5_omni_vision_encoder", "qwen2_5_vl_vision", "swin",
        "swinv2"}},
  };
  return fields;
}

}  // namespace

void refuse_null_fields(const Part& part) {
  const std::string why = fmt::format("with which transformers' {} fails: leave the field out", part.model_type);
  for (const char* name : of_every_type) part.config.refuse_nulls({name}, "a value", why);
  for (const NullField& field : of_some_types()) {
    const bool is_refused = std::ranges::find(field.model_types, part.model_type) != field.model_types.end();
    if (is_refused) part.config.refuse_nulls({field.name}, "a value", why);
  }
}

}  // namespace sextant::hugging_face
