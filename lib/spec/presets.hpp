#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace sextant {

/// A well-known setting by name. `json` is a spec as parse_spec reads it.
struct Preset {
  std::string_view name;
  std::string_view origin;  ///< whose setting it is, for a person
  std::string_view source;  ///< the paper or the file that states it
  std::string_view json;
};

/// All presets, in the order `sextant list specs` prints them.
std::span<const Preset> presets();

/// The preset of that name, or nothing.
std::optional<Preset> preset_named(std::string_view name);

}  // namespace sextant
