#pragma once

#include <string>
#include <vector>

#include "attack/cases/case.hpp"

namespace sextant::attack {

/// What a call gave: the elements of its answer, or what went wrong.
struct Answer {
  std::vector<Bits> elements;
  /// Empty, or an exception's text, or a complaint that bytes were written where none belonged.
  std::string failure;
};

/// Makes the encoder, or takes the one that served the call before if its encoding is the same, and calls it. Encoders
/// are all of lib/ that this uses.
Answer execute(const Case& example);

}  // namespace sextant::attack
