#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "lib/spec/fields.hpp"
#include "lib/spec/spec.hpp"

// Private to lib/spec: what each encoding's file gives to parse.cpp, one set of overloads per encoding.

namespace sextant {

/// Every position and offset lies within +-2^53: exactly representable in float64.
inline constexpr std::int64_t position_limit = std::int64_t{1} << 53;
/// No model has as many heads by orders of magnitude; sizes computed from it cannot overflow.
inline constexpr std::int64_t heads_limit = std::int64_t{1} << 16;

Integer read_integer(Fields& fields);
Binary read_binary(Fields& fields);
Sinusoidal read_sinusoidal(Fields& fields);
Sinusoidal2d read_sinusoidal_2d(Fields& fields);
Learned read_learned(Fields& fields);
Rope read_rope(Fields& fields);
/// The field rope_scaling of the object at hand, null or absent for the default.
RopeScaling read_rope_scaling(Fields& fields);
RopeNd read_rope_nd(Fields& fields);
Xpos read_xpos(Fields& fields);
Alibi read_alibi(Fields& fields);
RelativeBias read_relative_bias(Fields& fields);
Attention read_attention(Fields& fields);

/// @throws SpecError unless every field is in its domain.
void check(const Integer& encoding);
void check(const Binary& encoding);
void check(const Sinusoidal& encoding);
void check(const Sinusoidal2d& encoding);
void check(const Learned& encoding);
void check(const Rope& encoding);
void check_rope_scaling(const Rope& encoding);
void check(const RopeNd& encoding);
void check(const Xpos& encoding);
void check(const Alibi& encoding);
void check(const RelativeBias& encoding);
void check(const Attention& encoding);

/// @throws SpecError unless the encoding has a meaning at every position of the claim. Encodings with an overload of
/// position_count need none: they have the positions 0 .. position_count - 1.
void check_claim(const Integer& encoding, const Spec& spec);
void check_claim(const Sinusoidal2d& encoding, const Spec& spec);

/// Adds the encoding's fields in their fixed order.
void write(const Integer& encoding, nlohmann::ordered_json& object);
void write(const Binary& encoding, nlohmann::ordered_json& object);
void write(const Sinusoidal& encoding, nlohmann::ordered_json& object);
void write(const Sinusoidal2d& encoding, nlohmann::ordered_json& object);
void write(const Learned& encoding, nlohmann::ordered_json& object);
void write(const Rope& encoding, nlohmann::ordered_json& object);
void write_rope_scaling(const RopeScaling& scaling, nlohmann::ordered_json& object);
void write(const RopeNd& encoding, nlohmann::ordered_json& object);
void write(const Xpos& encoding, nlohmann::ordered_json& object);
void write(const Alibi& encoding, nlohmann::ordered_json& object);
void write(const RelativeBias& encoding, nlohmann::ordered_json& object);
void write(const Attention& encoding, nlohmann::ordered_json& object);

/// "dim 512": its size, for a person.
std::string size_text(const Integer& encoding);
std::string size_text(const Binary& encoding);
std::string size_text(const Sinusoidal& encoding);
std::string size_text(const Sinusoidal2d& encoding);
std::string size_text(const Learned& encoding);
std::string size_text(const Rope& encoding);
std::string size_text(const RopeNd& encoding);
std::string size_text(const Xpos& encoding);
std::string size_text(const Alibi& encoding);
std::string size_text(const RelativeBias& encoding);
std::string size_text(const Attention& encoding);

// For attention, whose `position` is an encoding too; parse.cpp has them.

/// Reads `encoding` and the fields of the encoding that it names.
PositionEncoding read_position_encoding(Fields& fields);
/// `encoding` and all its fields.
nlohmann::ordered_json written(const PositionEncoding& encoding);
/// "rope head_dim 128".
std::string described(const PositionEncoding& encoding);

}  // namespace sextant
