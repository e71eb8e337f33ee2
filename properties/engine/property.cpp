#include "properties/engine/property.hpp"

namespace sextant {

bool Property::admits(const Spec& spec, const Case& values) const {
  return in_range(fields(spec), values) && related(spec, values);
}

}  // namespace sextant
