#pragma once

#include <vector>

#include "properties/model/model.hpp"

namespace sextant {

/// What other layers, or other models, of one program may ask for: the siblings of the model, the same with fractions
/// changed, other dtypes, and other ends of the claim.
std::vector<Variant> siblings_of(const Spec& spec);

}  // namespace sextant
