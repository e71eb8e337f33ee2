#pragma once

#include "lib/spec/spec.hpp"
#include "properties/identify/identification.hpp"
#include "subjects/subject.hpp"

namespace sextant::identify {

/// Where nothing else is told of a bias and `found` is its claim or no spec: tells which heads, queries, keys or
/// distances are wrong, if they alone are and the others are right: "in a call of 40 queries and 200 keys, keys from 64
/// on have a wrong bias". Of ALiBi and relative biases. @throws SubjectFailure, Interrupted.
void take_wrong_places(Session& session, const Spec& claim, Identification& found);

}  // namespace sextant::identify
