#pragma once

#include <vector>

#include "lib/spec/spec.hpp"
#include "properties/identify/attention/other_attention.hpp"
#include "subjects/subject.hpp"

namespace sextant::identify {

/// Limits that scores have of two tokens, as measured: above, below, or both. Empty where they have none, and of claims
/// whose scores are more than a scaled product there.
std::vector<OtherAttention> limited_scores(Session& session, const Spec& claim);

}  // namespace sextant::identify
