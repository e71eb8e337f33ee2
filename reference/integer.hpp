#pragma once

#include <cstdint>

#include "lib/spec/spec.hpp"
#include "reference/enclosure.hpp"

namespace sextant::reference {

/// The code that every channel holds: position, or position / (max_position - 1) where normalised. Exact but for that
/// one division. max_position is the spec's, at least 2 where normalised.
Enclosure code(const Integer& encoding, std::int64_t max_position, std::int64_t position, Precision precision);

}  // namespace sextant::reference
