#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "properties/diagnose/places/asked_places.hpp"

namespace sextant::identify {

/// What a token has in common with others by how a call's positions lie, and what such tokens are called.
struct CallTrait {
  std::string words;  ///< "tokens at the position of the one before", "calls whose positions fall"
  std::string where;  ///< "at the position of the token before", "in calls whose positions fall"
};

/// A set of bits: which of call_traits() a token has.
using Traits = std::uint64_t;

/// All that are told, of claims of so many axes. The order is that of the bits, those of a token before those of its
/// batch row.
const std::vector<CallTrait>& call_traits();

/// Those of each token [batches, tokens] of a call; `are_whole` where positions are real ones and all of the call's are
/// whole numbers.
std::vector<Traits> traits_of(const AskedPlaces& asked, bool are_whole);

/// By how much a batch row's positions fall from token to token at least; 0 where they do not all fall.
std::int64_t least_fall(const AskedPlaces& asked, std::int64_t batch);

/// How many rows of a grid a batch row has before its first cell comes again; 0 where it does not.
std::int64_t rows_before_first_again(const AskedPlaces& asked, std::int64_t batch);

}  // namespace sextant::identify
