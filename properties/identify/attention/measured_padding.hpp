#pragma once

#include <vector>

#include "properties/identify/attention/asked_attention.hpp"

namespace sextant::identify {

/// Of a call with padding, where each batch row ends or begins, as its answers show: other rows' ends or starts, in
/// every order that has those, or those that lie some keys off. Empty where they are as claimed, or where none explains
/// a row.
std::vector<OtherAttention> measured_padding(const AskedCase& asked);

}  // namespace sextant::identify
