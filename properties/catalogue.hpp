#pragma once

#include <string_view>
#include <vector>

#include "properties/engine/property.hpp"

namespace sextant {

#define PROPERTY(name) Property name##_property();
#include "properties/catalogue.def"
#undef PROPERTY

/// Every property, in the order of reports.
const std::vector<Property>& catalogue();

/// The same for an audit that names a recipe, recipe_identity being of that; of none where the name is empty.
/// @throws std::invalid_argument for a name that is no recipe's.
std::vector<Property> catalogue_as(std::string_view recipe);

/// The property of that id, or null.
const Property* property_named(std::string_view id);

}  // namespace sextant
