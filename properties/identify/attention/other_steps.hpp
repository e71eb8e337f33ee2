#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "lib/spec/spec.hpp"
#include "properties/identify/attention/other_attention.hpp"
#include "properties/model/attention_case.hpp"

namespace sextant::identify {

/// Of keys that a spec shows, those that are seen alone.
OtherAttention with_mask(std::string words, std::function<void(Spec& spec, AttentionCase& request)> shows,
                         std::function<bool(const ScoresOfQuery& of, std::int64_t key)> sees);

/// Adds steps whose queries see other keys than the last tokens of a sequence do. @param request  of a step
void add_masks_of_steps(const Attention& claimed, const AttentionCase& request, std::vector<OtherAttention>& list);

/// Adds steps whose queries, or own keys, have other positions. @param claim  of attention  @param request  of a step
void add_other_steps(const Spec& claim, const AttentionCase& request, std::vector<OtherAttention>& list);

}  // namespace sextant::identify
