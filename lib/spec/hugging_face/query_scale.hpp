#pragma once

#include "lib/spec/hf_config.hpp"
#include "lib/spec/hugging_face/part.hpp"
#include "lib/spec/hugging_face/rope_rule.hpp"

// Private to lib/spec: models that scale queries by their positions.

namespace sextant::hugging_face {

/// What layers add to a rotation, as a claim of their attention: that of Llama 4's layers without positions, of
/// Ministral 3's and Mistral 4's with the rotation that `turned` claims. transformers 5.24, get_llama_4_attn_scale and
/// Llama4TextAttention.
/// @throws SpecError where a field is not in its domain, and what no spec says is refused by the claim.
ConfigClaim scaled_queries(const ConfigClaim& turned, const Part& part, const RopeRule& rule);
ConfigClaim scaled_queries(const ConfigClaim& standing, const Part& part);

/// Whether a llama4_text scales queries.
bool has_temperature_tuning(const Part& part);

}  // namespace sextant::hugging_face
