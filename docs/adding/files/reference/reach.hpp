#pragma once

#include <cstdint>

#include "lib/spec/spec.hpp"
#include "reference/enclosure.hpp"

namespace sextant::reference {

/// b_h(q, k), exactly, h = `head`.
/// @throws std::out_of_range unless 0 <= head < num_heads.
Enclosure bias(const Reach& encoding, std::int64_t query, std::int64_t key, std::int64_t head, Precision precision);

}  // namespace sextant::reference
