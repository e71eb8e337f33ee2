#include "properties/catalogue.hpp"

#include <algorithm>

#include "properties/every/recipe_identity.hpp"

namespace sextant {

const std::vector<Property>& catalogue() {
  static const std::vector<Property> properties{
#define PROPERTY(name) name##_property(),
#include "properties/catalogue.def"
#undef PROPERTY
  };
  return properties;
}

std::vector<Property> catalogue_as(std::string_view recipe) {
  std::vector<Property> properties = catalogue();
  if (recipe.empty()) return properties;
  *std::ranges::find(properties, "recipe_identity", &Property::id) =
      recipe_identity_property(reference::recipe_named(recipe));
  return properties;
}

const Property* property_named(std::string_view id) {
  for (const Property& property : catalogue()) {
    if (property.id == id) return &property;
  }
  return nullptr;
}

}  // namespace sextant
