#pragma once

#include <vector>

#include "lib/spec/spec.hpp"
#include "properties/identify/attention/other_attention.hpp"

namespace sextant::identify {

/// Adds attention one of whose steps is rounded to 16 bits, likeliest first. @param claim  of attention
void add_rounded_steps(const Spec& claim, std::vector<OtherAttention>& list);

/// Adds attention whose scores are cut off, or capped otherwise than is claimed. Where queries' scales are claimed,
/// what else becomes of those alone.
void add_other_scores(const Attention& claimed, const AttentionCase& request, std::vector<OtherAttention>& list);

}  // namespace sextant::identify
