#include "lib/spec/hugging_face/other_models.hpp"

namespace sextant::hugging_face {
namespace {

// In the order of the alphabet. transformers 5.24, sub_configs_defaults of configuration_TYPE.py: a part of any type is
// an AutoConfig.
using Type = Composition::Type;
constexpr Composition composed[] = {
    {"clip", {"text_config", "clip_text_model"}, {"vision_config", "clip_vision_model"}},
    {"gemma3", {"text_config", "gemma3_text"}, {"vision_config", "siglip_vision_model", Type::any}},
    {"gemma3n", {"text_config", "gemma3n_text"}, {"", ""}},
    {"gemma4", {"text_config", "gemma4_text"}, {"vision_config", "gemma4_vision"}},
    {"glm46v", {"text_config", "glm4v_text", Type::any}, {"vision_config", "glm4v_vision", Type::any}},
    {"glm4v", {"text_config", "glm4v_text"}, {"vision_config", "glm4v_vision"}},
    {"glm4v_moe", {"text_config", "glm4v_moe_text"}, {"vision_config", "glm4v_moe_vision"}},
    {"internvl", {"text_config", "qwen2", Type::any}, {"vision_config", "internvl_vision"}},
    {"kimi_k25", {"text_config", "deepseek_v3", Type::any}, {"vision_config", "kimi_k25_vision"}},
    {"llama4", {"text_config", "llama4_text"}, {"vision_config", "llama4_vision_model"}},
    {"llava", {"text_config", "llama", Type::any}, {"vision_config", "clip_vision_model", Type::any}},
    {"llava_next", {"text_config", "llama", Type::any}, {"vision_config", "clip_vision_model", Type::any}},
    {"mistral3", {"text_config", "mistral", Type::any}, {"vision_config", "pixtral", Type::any}},
    {"paligemma", {"text_config", "gemma", Type::any}, {"vision_config", "siglip_vision_model", Type::any}},
    {"qwen2_5_omni",
     {"text_config", "qwen2_5_omni_text"},
     {"vision_config", "qwen2_5_omni_vision_encoder"},
     Composition::Text::inner,
     "thinker_config"},
    {"qwen2_5_omni_thinker", {"text_config", "qwen2_5_omni_text"}, {"vision_config", "qwen2_5_omni_vision_encoder"}},
    {"qwen2_5_vl",
     {"text_config", "qwen2_5_vl_text"},
     {"vision_config", "qwen2_5_vl_vision"},
     Composition::Text::inner_or_outer},
    {"qwen2_vl",
     {"text_config", "qwen2_vl_text"},
     {"vision_config", "qwen2_vl_vision"},
     Composition::Text::inner_or_outer},
    {"qwen3_5", {"text_config", "qwen3_5_text"}, {"vision_config", "qwen3_5_vision"}},
    {"qwen3_5_moe", {"text_config", "qwen3_5_moe_text"}, {"vision_config", "qwen3_5_moe_vision"}},
    {"qwen3_omni_moe",
     {"text_config", "qwen3_omni_moe_text"},
     {"vision_config", "qwen3_omni_moe_vision_encoder"},
     Composition::Text::inner,
     "thinker_config"},
    {"qwen3_omni_moe_thinker",
     {"text_config", "qwen3_omni_moe_text"},
     {"vision_config", "qwen3_omni_moe_vision_encoder"}},
    {"qwen3_vl", {"text_config", "qwen3_vl_text"}, {"vision_config", "qwen3_vl_vision"}},
    {"qwen3_vl_moe", {"text_config", "qwen3_vl_moe_text"}, {"vision_config", "qwen3_vl_moe_vision"}},
    {"siglip2", {"text_config", "siglip2_text_model"}, {"vision_config", "siglip2_vision_model"}},
    {"siglip", {"text_config", "siglip_text_model"}, {"vision_config", "siglip_vision_model"}},
};

}  // namespace

std::span<const Composition> compositions() { return composed; }

}  // namespace sextant::hugging_face
