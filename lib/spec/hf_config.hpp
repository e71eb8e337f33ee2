#pragma once

#include <string_view>

#include "lib/spec/spec.hpp"

namespace sextant {

/// The rope spec that a Hugging Face config.json states. Read: qk_rope_head_dim, else head_dim (else hidden_size /
/// num_attention_heads), rope_theta, partial_rotary_factor (or rotary_pct), rotary_dim, max_position_embeddings (as
/// max_position), torch_dtype or dtype, and rope_scaling or rope_parameters with its type under rope_type or type.
/// Where the rule lacks original_max_position_embeddings, that of the model's top level fills it (Phi-3), else
/// max_position_embeddings; where yarn or longrope lack factor, max_position_embeddings over that length does. A
/// model's file says much else, so other fields are not refused, but those inside the rule are. The pairing is half,
/// GPT-NeoX's, unless model_type names a family that pairs neighbours (gptj, codegen, deepseek_v2; deepseek_v3, which
/// returns halves).
/// @throws SpecError, naming the field, where the file states no rope or one that is not known.
Spec spec_from_hf_config(std::string_view json);

}  // namespace sextant
