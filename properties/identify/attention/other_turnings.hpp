#pragma once

#include <vector>

#include "lib/spec/spec.hpp"
#include "properties/identify/attention/other_attention.hpp"

namespace sextant::identify {

/// Adds attention whose queries and keys are turned by other positions or lengths than their own, or keys by another
/// rule. Nothing where the claim turns neither.
void add_other_turnings(const Spec& claim, const AttentionCase& request, std::vector<OtherAttention>& list);

}  // namespace sextant::identify
