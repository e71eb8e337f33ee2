#pragma once

#include <cstdint>
#include <vector>

#include "lib/spec/spec.hpp"
#include "properties/identify/attention/other_attention.hpp"
#include "properties/model/attention_case.hpp"
#include "subjects/subject.hpp"

namespace sextant::identify {

/// Attention whose scores have something added that the claim does not add, as queries of 0 show it in a whole call of
/// the request's shape: so much from key to key, or in a block of queries and keys. Its words hold where it explains
/// ordinary answers too. Nothing of claims with sinks or scaled queries. @throws what attend does.
std::vector<OtherAttention> fitted_scores(Session& session, const Spec& claim, const AttentionCase& request,
                                          std::int64_t most_heads);

}  // namespace sextant::identify
