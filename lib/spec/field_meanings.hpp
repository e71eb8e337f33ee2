#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace sextant {

/// A field of a spec, and what it says, in a line. One within an object is named by its path, "rope_scaling.factor".
struct FieldMeaning {
  std::string_view name;
  std::string_view meaning;
};

/// The fields of an encoding besides those of every spec, for `sextant list encodings`; docs/spec.md has their domains
/// and defaults. Nothing for a name that is no encoding's.
std::vector<FieldMeaning> fields_of_encoding(std::string_view encoding);

/// Those of every spec.
std::span<const FieldMeaning> fields_of_every_spec();

}  // namespace sextant
