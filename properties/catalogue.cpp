#include "properties/catalogue.hpp"

#include <fmt/format.h>

namespace sextant {

std::string not_stated_for(const Spec& spec) { return fmt::format("not stated for {}", encoding_name(spec)); }

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
