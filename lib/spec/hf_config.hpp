#pragma once

#include <string_view>

#include "lib/spec/spec.hpp"

namespace sextant {

/// The rope spec that a Hugging Face config.json states. Read: head_dim (else hidden_size / num_attention_heads),
/// rope_theta, partial_rotary_factor (or rotary_pct), rotary_dim, max_position_embeddings (as max_position), torch_dtype
/// or dtype, and rope_scaling or rope_parameters, of which the types default and null are known. A model's file says
/// much else, so other fields are not refused. The pairing is half, GPT-NeoX's, unless model_type names a family that
/// pairs neighbours (gptj, codegen).
/// @throws SpecError, naming the field, where the file states no rope or one that is not known.
Spec spec_from_hf_config(std::string_view json);

}  // namespace sextant
