#pragma once

#include <cstdint>
#include <vector>

#include "lib/spec/entry.hpp"

namespace sextant {

/// Whether a class token stands before those of the window.
enum class ClassToken { none, first };

/// Liu et al. 2021 (arXiv 2103.14030, Swin), section 3.2: within a window of e_0 x .. x e_(a-1) tokens, `window`, the
/// score of query q and key k in head h gains weight[index(q, k), h], `weight` being [rows, heads]. Positions are
/// numbers of tokens, row by row: with the coordinates y of the query and z of the key,
///   index(q, k) = the number of the place y - z + e - 1 in a box of 2 e_0 - 1 x .. x 2 e_(a-1) - 1, row by row,
/// as in the released code's relative_position_index[q, k]. One axis to three: Video Swin (arXiv 2106.13230) has depth,
/// height and width.
///
/// With a class token, as in BEiT's released code (arXiv 2106.08254), token 0 is that, the window's follow it, and
/// three rows come last: of the class token as query and another as key, of another as query and it as key, of it as
/// both.
struct WindowBias {
  std::vector<std::int64_t> window;
  ClassToken class_token = ClassToken::none;

  static const EncodingEntry<WindowBias> entry;
};

/// Tokens of a window, the class token among them: positions are 0 to one less.
std::int64_t position_count(const WindowBias& encoding);

/// Rows of the weight.
std::int64_t weight_rows(const WindowBias& encoding);

}  // namespace sextant
