#pragma once

#include <functional>
#include <optional>

#include "attack/cases/case.hpp"
#include "attack/truth/checker.hpp"

namespace sextant::attack {

/// Judges a case: nothing where it holds.
using Judge = std::function<std::optional<Mismatch>(const Case&)>;

struct Counterexample {
  Case example;
  Mismatch mismatch;
};

/// A smaller case that fails still: fewer positions, heads and threads, one pair of elements, plainer memory and
/// parameters, as far as `seconds` reach.
Counterexample shrunk(Counterexample found, const Judge& judge, double seconds);

}  // namespace sextant::attack
