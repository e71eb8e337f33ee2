#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "lib/spec/fields.hpp"
#include "lib/spec/spec.hpp"

// Private to lib/spec: what each encoding's file gives to parse.cpp, one set of overloads per encoding.

namespace sextant {

/// Every position and offset lies within +-2^53: exactly representable in float64.
inline constexpr std::int64_t position_limit = std::int64_t{1} << 53;

Sinusoidal read_sinusoidal(Fields& fields);
Rope read_rope(Fields& fields);
/// The field rope_scaling of the object at hand, null or absent for the default.
RopeScaling read_rope_scaling(Fields& fields);

/// @throws SpecError unless every field is in its domain.
void check(const Sinusoidal& encoding);
void check(const Rope& encoding);
void check_rope_scaling(const Rope& encoding);

/// Adds the encoding's fields in their fixed order.
void write(const Sinusoidal& encoding, nlohmann::ordered_json& object);
void write(const Rope& encoding, nlohmann::ordered_json& object);
void write_rope_scaling(const RopeScaling& scaling, nlohmann::ordered_json& object);

/// "dim 512": its size, for a person.
std::string size_text(const Sinusoidal& encoding);
std::string size_text(const Rope& encoding);

}  // namespace sextant
