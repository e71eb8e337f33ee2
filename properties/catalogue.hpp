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

/// The property of that id, or null.
const Property* property_named(std::string_view id);

}  // namespace sextant
