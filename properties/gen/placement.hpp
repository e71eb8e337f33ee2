#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "properties/gen/extent.hpp"
#include "properties/gen/position.hpp"

namespace sextant::gen {

/// How the tokens of a batch row lie on several axes, from 0 on, time before height before width: what texts, images
/// and films come to in the models that have such positions.
enum class Placement : std::int64_t {
  text,                 ///< the same place on every axis, one by one
  image,                ///< row after row of a grid on the last two axes, the others staying
  image_of_one_row,     ///< one by one on the last axis, the others staying
  film,                 ///< image after image, time being the first axis
  text_and_image,       ///< a third of the tokens text, then an image that begins behind it on every axis
  portrait,             ///< an image of no more columns than rows
  image_of_one_column,  ///< one by one on the last axis but one
  strip,                ///< a portrait as narrow as it can be, of more than one column
  blocks,               ///< an image in blocks of 2 x 2, which are merged later (Qwen2-VL): in each row after row
  packed_images,        ///< two images one after the other, each from 0 on
  class_token_first,    ///< 1, 4 or 5 tokens at 0 (a class token, registers), then an image from 0 on
  class_token_last,     ///< an image whose rows and columns count from 1, then a token at 0 (Llama 4)
  images_of_rows,       ///< an image in each batch row: as above, on its side, of other sides
  image_elsewhere,      ///< the same image in each batch row, in the second from another place on
  long_film,            ///< more frames than rows and columns, time in steps of two
  text_image_text,      ///< text, an image, and text that begins behind the largest coordinate (M-RoPE)
  text_and_film         ///< text, then a film whose time goes in steps of two
};
inline constexpr std::int64_t placements = 17;

/// How many batch rows a call needs until they differ as far as they do.
std::int64_t rows_of(Placement placement);

/// The coordinates [axes, tokens] of `tokens` tokens in batch row `row`. An image has sides as near to each other as
/// its number of patches allows, no more rows than columns; one of as many patches as `image`, which may be empty, has
/// its sides.
std::vector<std::int64_t> coordinates(Placement placement, std::int64_t axes, std::int64_t tokens, std::int64_t row = 0,
                                      std::span<const std::int64_t> image = {});

/// Positions [axes, batch, tokens], all in the range: the coordinates from `first` on, wrapping round at the range's
/// end.
std::vector<std::int64_t> placed_positions(Placement placement, const PositionRange& range, std::int64_t first,
                                           std::int64_t axes, const Extents& extents,
                                           std::span<const std::int64_t> image = {});

}  // namespace sextant::gen
