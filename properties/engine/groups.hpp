#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "lib/spec/spec.hpp"
#include "properties/engine/property.hpp"
#include "subjects/subject.hpp"

namespace sextant {

/// Why the property has nothing to say of this subject and spec; nothing if it applies.
std::optional<std::string> why_not_applicable(const Property& property, const Subject& subject, const Spec& spec);

/// Which of the properties that apply are judged together, by their numbers: those that judge answers, and each of the
/// others by itself. In the order of the first of each.
std::vector<std::vector<std::size_t>> judged_together(const std::vector<Property>& properties, const Subject& subject,
                                                      const Spec& spec);

}  // namespace sextant
