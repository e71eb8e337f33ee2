#pragma once

#include <vector>

#include "properties/model/model.hpp"

namespace sextant {

/// The specs that differ from this one in the fraction of one real number alone, the base, a factor or a scale: a table
/// kept under a whole number, or under a few digits, is found for both.
std::vector<Variant> variants_by_fraction(const Spec& spec);

}  // namespace sextant
