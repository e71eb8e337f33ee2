#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "properties/gen/extent.hpp"
#include "properties/model/question.hpp"

namespace sextant {

// How the tokens of one call are asked again in another, for the law that what a token gets does not depend on the
// shape of its call.

/// Which tokens, and where they stand.
enum class TokenShape : std::int64_t {
  last_alone,    ///< from the cut on
  first_alone,   ///< up to the cut
  others_first,  ///< the same number of tokens, those before the cut exchanged for others
  reversed,      ///< the last one first
  every_second,
};
inline constexpr std::int64_t token_shapes = 5;

/// Of each token of the other call, where it stands in the first one: 0 .. tokens - 1, or -1 for one that is another.
std::vector<std::int64_t> tokens_again(TokenShape shape, std::int64_t tokens, std::int64_t cut);

/// The token of the first call whose values one of the other call takes: its own, or for another that at the mirrored
/// place. @param from  as tokens_again has it.
std::int64_t source_of(const std::vector<std::int64_t>& from, std::int64_t token, std::int64_t tokens);

/// Positions [lines, tokens] of those tokens, [lines, from.size()].
std::vector<std::int64_t> positions_again(std::span<const std::int64_t> positions, std::int64_t tokens,
                                          const std::vector<std::int64_t>& from);

/// Where `extent` things are cut in two, both parts not empty if there are two or more: 1 .. extent - 1, else 0.
std::int64_t cut_of(std::int64_t extent, std::int64_t cut);

/// The question with extents cut to what `largest` allows, heads first, tokens last.
Question clipped(Question question, const gen::LargestCall& largest);

/// Whether its extents are within that.
bool holds(const gen::LargestCall& largest, const Question& question);

}  // namespace sextant
