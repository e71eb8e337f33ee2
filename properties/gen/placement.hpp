#pragma once

#include <cstdint>
#include <vector>

#include "properties/gen/extent.hpp"
#include "properties/gen/position.hpp"

namespace sextant::gen {

/// How the tokens of a call lie on several axes, from 0 on, time before height before width.
enum class Placement : std::int64_t {
  text,              ///< the same place on every axis, one by one
  image,             ///< row after row of a grid on the last two axes, the others staying
  image_of_one_row,  ///< one by one on the last axis, the others staying
  film,              ///< image after image, time being the first axis
  text_and_image,    ///< a third of the tokens text, then an image that begins behind it on every axis
};
inline constexpr std::int64_t placements = 5;

/// The coordinates [axes, tokens] of `tokens` tokens. A grid has sides as near to each other as its number of tokens
/// allows, none longer than those after it.
std::vector<std::int64_t> coordinates(Placement placement, std::int64_t axes, std::int64_t tokens);

/// Positions [axes, batch, tokens], all in the range: the coordinates from `first` on, in every batch row alike,
/// wrapping round at the range's end.
std::vector<std::int64_t> placed_positions(Placement placement, const PositionRange& range, std::int64_t first,
                                           std::int64_t axes, const Extents& extents);

}  // namespace sextant::gen
