#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lib/spec/field_meanings.hpp"
#include "lib/spec/fields.hpp"
#include "lib/spec/operation.hpp"
#include "lib/spec/spec.hpp"

// Private to lib/spec: what each encoding's file gives to parse.cpp.

namespace sextant {

/// Every position and offset lies within +-2^53: exactly representable in float64.
inline constexpr std::int64_t position_limit = std::int64_t{1} << 53;
/// No model has as many heads by orders of magnitude; sizes computed from it cannot overflow.
inline constexpr std::int64_t heads_limit = std::int64_t{1} << 16;

/// One encoding in the list of them all: `EncodingType::entry`.
template <class EncodingType>
struct EncodingEntry {
  /// The value of the field `encoding`.
  std::string_view name;
  /// The least spec of it, as parse_spec reads it: what is left out has its default.
  std::string_view example;
  /// What each of its fields says.
  std::vector<FieldMeaning> (*fields)();
  /// Reads its fields. @throws SpecError for types and names that no field takes.
  EncodingType (*read)(Fields& fields);
  /// @throws SpecError unless every field is in its domain.
  void (*check)(const EncodingType& encoding);
  /// Adds the fields in their fixed order.
  void (*write)(const EncodingType& encoding, nlohmann::ordered_json& object);
  /// Fields that describe() names whatever they hold, beside those without a default: sizes, the base, the layout.
  std::span<const std::string_view> described = {};
  Signature (*signature)(const EncodingType& encoding);
  /// The positions that a valid encoding has, or nothing where it has all.
  std::optional<PositionBounds> (*position_bounds)(const EncodingType& encoding) = [](const EncodingType&) {
    return std::optional<PositionBounds>();
  };
  /// The positions of a claim that names none, where the encoding has all and a model fewer; nothing for 0 to 131071.
  std::optional<PositionBounds> (*usual_positions)(const EncodingType& encoding) = [](const EncodingType&) {
    return std::optional<PositionBounds>();
  };
  /// @throws SpecError unless the encoding has a meaning at every position of the claim. One of so many positions and
  /// no more need not look at those.
  void (*check_claim)(const EncodingType& encoding, const Spec& spec) = [](const EncodingType&, const Spec&) {};
  /// @throws SpecError unless the encoding may be attention's position; sizes aside, which the signature tells.
  void (*check_within)(const EncodingType& encoding, const Attention& attention) = [](const EncodingType&,
                                                                                      const Attention&) {};
};

/// @throws SpecError unless the claim begins before `shortest`, where the shortest of an encoding's axes ends.
void check_begins_within(const Spec& spec, std::int64_t shortest);

/// The `fields` of an encoding that has an array of them.
template <const auto& meanings>
std::vector<FieldMeaning> listed() {
  return {std::begin(meanings), std::end(meanings)};
}

/// The entry of an encoding at hand.
template <class EncodingType>
constexpr const EncodingEntry<EncodingType>& entry_of(const EncodingType&) {
  return EncodingType::entry;
}

/// The field rope_scaling of the object at hand, null or absent for the default.
RopeScaling read_rope_scaling(Fields& fields);
void check_rope_scaling(const Rope& encoding);
void write_rope_scaling(const RopeScaling& scaling, nlohmann::ordered_json& object);
/// What it and its own fields say.
std::span<const FieldMeaning> rope_scaling_fields();

/// The fields position_dtype and position_step of the object at hand, absent for whole numbers.
PositionGrid read_position_grid(Fields& fields);
/// @throws SpecError unless the step is one that positions may have.
void check_position_grid(const PositionGrid& positions);
/// Adds both, but for whole numbers neither.
void write_position_grid(const PositionGrid& positions, nlohmann::ordered_json& object);
/// What they say.
std::span<const FieldMeaning> position_grid_fields();

// For attention, whose `position` is an encoding too; parse.cpp has them.

/// Reads `encoding` and the fields of the encoding that it names.
PositionEncoding read_position_encoding(Fields& fields);
/// `encoding` and all its fields.
nlohmann::ordered_json written(const PositionEncoding& encoding);

}  // namespace sextant
