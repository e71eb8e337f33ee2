#pragma once

#include <cstdint>
#include <vector>

#include "properties/gen/position.hpp"

namespace sextant::gen {

/// The positions of the range where implementations break, each once, ascending: its ends and their neighbours, 0, 2^k
/// and -2^k and their neighbours up to 2^53 (257 and 2049 are where bfloat16 and float16 integers end), 8191, 65520
/// (float16's overflow), 10^6.
std::vector<std::int64_t> special_positions(const PositionRange& range);

}  // namespace sextant::gen
