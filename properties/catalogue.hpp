#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "properties/property.hpp"

namespace sextant {

// Each property is made in a file of its own.
Property accuracy_property();                 // accuracy.cpp
Property bounds_property();                   // sinusoidal_bounds.cpp
Property linear_shift_property();             // sinusoidal_linear_shift.cpp
Property isometry_property();                 // rope_isometry.cpp
Property relative_offset_property();          // rope_relative_offset.cpp
Property prefix_consistency_property();       // prefix_consistency.cpp

/// Why a property says nothing of a spec whose encoding it has no statement for: "not stated for alibi".
std::string not_stated_for(const Spec& spec);

/// Every property, in the order of reports.
const std::vector<Property>& catalogue();

/// The property of that id, or null.
const Property* property_named(std::string_view id);

}  // namespace sextant
