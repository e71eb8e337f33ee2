#pragma once

#include <string>
#include <vector>

#include "properties/identify/attention/asked_attention.hpp"

namespace sextant::identify {

/// Wrong rows of an answer by the tokens, heads and batch rows that have them all and nothing else.
struct TakenRows {
  std::string words;  ///< "head 3 of 4 in batch row 1 of 2 has the values of the head before it"; empty without any
  bool has_values = false;  ///< whether it says what the values are
};

/// @param wrong  AskedCase::wrong()
TakenRows taken_rows(const AskedCase& asked, const std::vector<AttentionPlaceOfHead>& wrong);

}  // namespace sextant::identify
