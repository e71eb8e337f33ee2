#pragma once

#include <string>
#include <vector>

#include "lib/spec/spec.hpp"

namespace sextant {

/// The JSON form without the fields that have their default, one line: parse_spec gives the same spec.
std::string shortest_json(const Spec& spec);

/// What is to be changed in one claim to have another, "rope_theta 500000 instead of 10000" each: the fields that the
/// shortest forms of the two have and that differ, those of an object by their path.
std::vector<std::string> changed_fields(const Spec& from, const Spec& to);

}  // namespace sextant
