#pragma once

#include "properties/engine/property.hpp"
#include "reference/recipe.hpp"

namespace sextant {

/// The property `recipe_identity` of the recipe that an audit names.
Property recipe_identity_property(const reference::Recipe& recipe);

}  // namespace sextant
