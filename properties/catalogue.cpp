#include "properties/catalogue.hpp"

namespace sextant {

const std::vector<Property>& catalogue() {
  static const std::vector<Property> properties{accuracy_property(),  bounds_property(),          linear_shift_property(),
                                                isometry_property(), relative_offset_property(), prefix_consistency_property()};
  return properties;
}

const Property* property_named(std::string_view id) {
  for (const Property& property : catalogue()) {
    if (property.id == id) return &property;
  }
  return nullptr;
}

}  // namespace sextant
