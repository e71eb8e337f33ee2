#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "properties/identify/biases/asked_biases.hpp"

namespace sextant::identify {

/// Some cells: those of one query, of keys from one on, of calls of a size.
struct BiasPart {
  enum class Of { cells, calls };  ///< what its words are of
  Of of = Of::cells;
  std::string words;  ///< "keys from number 64 on", of cells; "of one query", of calls
  std::function<bool(const BiasQuestion& question, const BiasCell& cell)> holds;
  /// Of a part that begins or ends at a number: calls of some of the numbers between it and the nearest of these cells,
  /// which the part has not, the one in the middle first.
  std::function<std::vector<BiasQuestion>(const std::vector<BiasCell>& out)> next = {};
  int feature = 0;  ///< parts of one feature are told together last
};

/// The one part, or the two or three together, that have all cells of `in` and none of `out`; fewest and simplest
/// first. With no `out` it is all: an empty list. Nothing where none have.
std::optional<std::vector<BiasPart>> dividing_parts(const AskedBiases& asked, const std::vector<BiasCell>& in,
                                                    const std::vector<BiasCell>& out);

/// " of keys from number 64 on", and ", in calls of one query and of 9 and more keys".
struct PartWords {
  std::string of_cells;
  std::string of_calls;
};
PartWords words_of(const std::vector<BiasPart>& parts);

}  // namespace sextant::identify
