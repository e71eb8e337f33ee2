#pragma once

#include <string>

namespace sextant {

/// "0x1.8p+1": the value in the hexadecimal notation of C, every bit of it, as printf's %a has it. {fmt} has a notation
/// of its own for zeros and subnormals, which changed between its versions.
std::string hex_text(double value);

}  // namespace sextant
