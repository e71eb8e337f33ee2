#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "lib/kernels/frequency_pieces.hpp"
#include "lib/numeric/heads.hpp"
#include "lib/numeric/rounding.hpp"
#include "lib/rope/job.hpp"
#include "lib/rope/plan.hpp"
#include "lib/rope/settle.hpp"

namespace sextant {

// Vectors that are turned into another dtype than theirs.

/// Turns x into y, rounded once to y's dtype: certified the nearest values (docs/proofs/rope.md, step 23).
/// Precondition: as RopeJob's, but that y is apart from x and of another dtype.
void turn_and_round(const RopePlan& plan, const RopePass& pass, Rounding rounding, const ConstHeads& x,
                    std::span<const std::int64_t> positions, const Heads& y);

/// Heads of which nothing turns: every channel of y is that of x that the pass carries to it, rounded to y's dtype.
void carry_and_round(const Rope& encoding, const RopePass& pass, const ConstHeads& x, const Heads& y);

// What of it is by vectors, on the instruction set in use (tiers/cast.cpp).

/// Where rounded elements go. Streamed, to addresses that are multiples of a line.
struct RoundedTo {
  Dtype dtype;
  std::byte* data;
  Caching caching;
};

/// Rounds `count` floats to a 16-bit dtype, any NaN to the canonical one, and writes the indices of those that are ties
/// between two values of it to `ties`, which has room for all; how many there are.
std::size_t round_floats(const float* from, std::size_t count, const RoundedTo& to, std::uint32_t* ties);

/// The same of any floating dtype to a narrower one, an element at a time.
std::size_t round_elements(Dtype from_dtype, const std::byte* from, std::size_t count, Dtype dtype, std::byte* to,
                           std::uint32_t* ties);

/// The sine and cosine of a pair's angle as OpenPair has them.
struct PairTurn {
  Sum sin;
  Sum cos;
};
PairTurn precise_turn(const FrequencyPieces& frequencies, std::size_t pair, std::int64_t position);

}  // namespace sextant
