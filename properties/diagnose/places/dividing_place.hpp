#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "properties/diagnose/places/judged_vectors.hpp"

namespace sextant::identify {

/// Vectors of which something is told: "the last token of a call", "heads from 4 on".
struct WrongPlace {
  std::string words;
  std::string where =
      {};                ///< the same of what else is told of: "where it is the last of its call", "in heads from 4 on"
  bool is_many = false;  ///< heads, not a head
  std::function<bool(const JudgedVector&)> holds = {};
  bool is_of_position = false;
  bool is_repeated = false;                          ///< every so many of them
  std::optional<std::int64_t> first_position = {};   ///< of those that hold all positions from there on
  std::optional<std::int64_t> last_position = {};    ///< of those that hold no position beyond, likewise
  std::optional<std::int64_t> positions_apart = {};  ///< of those that come again at these steps
  std::optional<std::int64_t> fewest_tokens = {};    ///< of those that hold all calls of as many tokens and more
  std::optional<double> least_size = {};             ///< of those that begin or end at a size of vectors
  bool is_of_trait = false;                          ///< one of call_traits()
  bool is_of_last = false;                           ///< the last vector of a call, which comes after any count
  bool is_of_count = false;  ///< of a count over rows, tokens and heads, which says enough alone
  /// " (right up to 7)", of these vectors: what follows the words of a bound.
  std::function<std::string(const std::vector<JudgedVector>& vectors)> gap = {};
};

/// Which right vectors tell nothing: those at position 0, or with two axes at one coordinate, where other angles are
/// the same, and, of errors that do not grow with values, those of great ones too; where position 0 shows what is
/// wrong, those with axes alike alone.
enum class Hidden { at_axes_alike, at_0, among_great_values };
bool may_hide(const JudgedVector& vector, Hidden hidden);

/// The first place that has all wrong vectors and no right one, or the first two that have them together, of those
/// vectors that `counts` takes; some vector is wrong. `step` is what a position's number counts.
std::optional<WrongPlace> dividing_place(const std::vector<JudgedVector>& vectors,
                                         const std::function<bool(const JudgedVector&)>& counts, double step);

}  // namespace sextant::identify
