#pragma once

#include <vector>

#include "lib/spec/attention.hpp"
#include "properties/identify/other_attention.hpp"

namespace sextant::identify {

/// Adds attention whose scores are cut off, or capped otherwise than is claimed, or whose weights are rounded.
/// Nothing where sinks or queries' scales are claimed, of which PlainScores knows none.
void add_other_scores(const Attention& claimed, std::vector<OtherAttention>& list);

}  // namespace sextant::identify
