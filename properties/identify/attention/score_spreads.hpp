#pragma once

#include "lib/spec/spec.hpp"
#include "properties/identify/attention/place_of_calls.hpp"
#include "properties/model/attention_case.hpp"
#include "subjects/subject.hpp"

namespace sextant::identify {

/// What is said of a subject that is wrong where scores are large, of how far apart those of a query lie which is
/// wrong at least; of no such number where usual scores are wrong too.
PlaceOfCalls place_of_spreads(Session& session, const Spec& claim);

/// How far apart the scores of one of its queries lie at most; infinity of calls that would take long.
double greatest_spread(const Spec& claim, const AttentionCase& request);

}  // namespace sextant::identify
