#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace sextant {

/// The first bytes of what a program wrote where a reply should stand, for a message: most often text printed by
/// mistake. Bytes that are not printable ASCII are escaped as \xNN.
std::string preview(std::span<const std::byte> bytes);

/// The same of a name that a file gives.
std::string preview(std::string_view name);

}  // namespace sextant
