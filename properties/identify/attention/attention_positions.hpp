#pragma once

#include <optional>
#include <string>

#include "lib/spec/spec.hpp"
#include "properties/identify/attention/attention_probe.hpp"

namespace sextant::identify {

/// Which positions queries and keys are turned by, or distances are taken of, instead of those given: "a token's place
/// in the call is taken for its position". Empty where scores are those of the claim, where no known way explains them,
/// and where the claim's position is neither a rope whose frequencies are the same in calls of any length nor an ALiBi
/// of distances.
std::string positions_of_scores(AttentionProbe& probe, const Spec& claim, const Attention& claimed);

/// By which rule queries are scaled by their positions, told from products of queries and keys that stand together, of
/// a claim that has none. Nothing where those are alike, or follow no rule that a spec says.
std::optional<QueryScale> seen_query_scale(AttentionProbe& probe, const Spec& claim, const Attention& claimed);

/// "values are turned by their positions too", where a token that sees itself alone shows it; empty otherwise.
std::string turned_values(AttentionProbe& probe, const Spec& claim, const Attention& claimed);

}  // namespace sextant::identify
