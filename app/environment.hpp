#pragma once

#include <string>
#include <utility>
#include <vector>

namespace sextant {

/// What a report says of where it was made: system, processor, compiler, MPFR.
std::vector<std::pair<std::string, std::string>> environment();

}  // namespace sextant
