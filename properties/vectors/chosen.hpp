#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "properties/vectors/asked.hpp"

namespace sextant::vectors {

/// A question that is asked of a claim.
struct ChosenAsk {
  Ask ask;
  std::vector<std::int64_t> elements;  ///< of the answer, by which some known bug is seen
  std::vector<std::string> flags;      ///< the rows of docs/bug-zoo.md that have those bugs
};

/// What is asked under one claim, in this order.
struct ChosenClaim {
  std::string_view spec;
  std::vector<ChosenAsk> asks;
};

/// The questions of the vectors: those that are asked again in 16 bits, which come first, so that who keeps the dtype
/// of a process's first call is seen in the others; and claims_with_mutants().
std::vector<ChosenClaim> chosen_claims();

/// The least that convict the mutants of each claim, as sextant-vectors chose them.
std::vector<ChosenClaim> claims_with_mutants();

/// A row of docs/bug-zoo.md.
struct Bug {
  std::string_view row;
  std::string_view text;    ///< what goes wrong
  std::string_view thread;  ///< where it was told; empty where that is not public
};

/// The row of that name; null where there is none.
const Bug* bug_named(std::string_view row);

}  // namespace sextant::vectors
