#pragma once

#include <vector>

#include "lib/spec/hf_config.hpp"
#include "lib/spec/hugging_face/part.hpp"

// Private to lib/spec.

namespace sextant::hugging_face {

/// Qwen 1 (model_type qwen), which transformers does not have: what the modeling_qwen.py beside the file does. Its
/// rotation, with steps of the base under use_dynamic_ntk, and its attention where use_logn_attn scales queries.
std::vector<ConfigClaim> qwen(const Part& part);

}  // namespace sextant::hugging_face
