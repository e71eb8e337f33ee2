#include "properties/catalogue.hpp"

namespace sextant {

const std::vector<Property>& catalogue() {
  static const std::vector<Property> properties{
#define PROPERTY(name) name##_property(),
#include "properties/catalogue.def"
#undef PROPERTY
  };
  return properties;
}

const Property* property_named(std::string_view id) {
  for (const Property& property : catalogue()) {
    if (property.id == id) return &property;
  }
  return nullptr;
}

}  // namespace sextant
