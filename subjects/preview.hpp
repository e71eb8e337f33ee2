#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace sextant {

/// The first bytes of what a program wrote where a reply should stand, for a message: most often text printed by
/// mistake. Bytes that are not printable ASCII are escaped as \xNN.
std::string preview(std::span<const std::byte> bytes);

}  // namespace sextant
