#pragma once

#include <vector>

#include "lib/spec/attention.hpp"
#include "properties/identify/attention/other_attention.hpp"

namespace sextant::identify {

/// Adds attention whose biases are not the claim's: of other heads, distances, signs, factors or weights. Nothing where
/// the claim has no bias.
void add_other_biases(const Attention& claimed, std::vector<OtherAttention>& list);

}  // namespace sextant::identify
