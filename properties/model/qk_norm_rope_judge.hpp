#pragma once

#include <memory>

#include "properties/model/model.hpp"

namespace sextant {

/// Judges calls of qk_norm_rope, whose vectors are q and k and whose weight is [2, head_dim], that of queries and that
/// of keys. An answer has a token's queries and then its keys, [batch, tokens, heads + kv_heads, head_dim].
std::unique_ptr<Judge> make_qk_norm_rope_judge(const Spec& spec, const QkNormRope& encoding);

}  // namespace sextant
