#pragma once

#include <string>

#include "lib/spec/spec.hpp"
#include "subjects/subject.hpp"

namespace sextant::identify {

/// Which heads, queries, keys or distances of a bias are wrong, where they alone are and the others are right: "in a
/// call of 40 queries and 200 keys, keys from 64 on have a wrong bias". Of ALiBi and relative biases; empty where all
/// that is asked is right, or what is wrong is not parted so. @throws SubjectFailure, Interrupted.
std::string wrong_places_of_bias(Session& session, const Spec& claim);

}  // namespace sextant::identify
