#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace sextant::gen {

// The one place that says which grids, and which parts of them, calls about several axes ask for, and in which order
// their cells come. An implementation that keeps the table of a grid must tell it from all of these.

/// How the cells of a grid follow each other. The usual order comes first: it is the simplest.
enum class Walk : std::int64_t {
  rows,                  ///< row after row, the last axis fastest
  columns,               ///< the first axis fastest, the last slowest
  frames_last,           ///< the first axis fastest, the others as they were
  snake,                 ///< row after row, every other one backwards
  backwards,             ///< the last cell first
  upside_down,           ///< the last row first, each of them forwards
  mirrored,              ///< the first row first, each of them backwards
  rows_shuffled,         ///< rows in no order, each of them forwards
  rows_shuffled_inside,  ///< the same but for the first row and the last
  shuffled_within_rows,  ///< row after row, each in no order but for its ends
  shuffled,              ///< in no order
  shuffled_inside,       ///< in no order but for the first cell and the last
  exchanged,             ///< row after row, but for two cells in the middle that change places
  repeated,              ///< row after row, but for a cell in the middle, for which the one before comes again
  tiles_of_two,          ///< in tiles of 2 on the last two axes, in each row after row
  tiles_of_seven,        ///< likewise in tiles of 7
  points,                ///< as many points of the grid as it has cells, in no order, no coordinate 0
  points_with_zeros,     ///< the same, of each point some coordinates 0: each choice of axes comes
};
inline constexpr std::int64_t walks = 18;

/// A grid: how many cells it has on each axis, from which one on, how far apart.
struct CellGrid {
  std::vector<std::int64_t> sides;
  Walk walk = Walk::rows;
  std::vector<std::int64_t> first = {};  ///< 0 on every axis where it is empty
  std::int64_t step = 1;
};

/// A call: tokens at 0 (a class token, registers), grids one after another, tokens at 0 again. Of the grids' cells the
/// first `skipped` are left out, and all behind `kept` of the others.
struct CellCall {
  std::vector<CellGrid> grids = {};
  std::int64_t before = 0;
  std::int64_t after = 0;
  std::int64_t skipped = 0;
  std::optional<std::int64_t> kept = std::nullopt;
};

/// How many tokens it has.
std::int64_t tokens_of(const CellCall& call);

/// Their coordinates [axes, tokens], from 0 on.
std::vector<std::int64_t> coordinates_of(const CellCall& call);

/// The most tokens of a call: of one that is asked in every walk, of one that is asked a few times, and of all of those
/// few together; and the largest of the numbers of tokens of which each beside a power of two is asked.
struct MostTokens {
  std::int64_t often;
  std::int64_t once;
  std::int64_t together;
  std::int64_t length;
};

/// The calls about a claim of two axes or more whose grid has these sides: the grid in every walk; lines along each
/// axis, on which every other coordinate is 0; its rows, columns, frames, chunks and crops; with tokens before and
/// behind it; several grids in one call; smaller grids, of every power of two of cells to 8192, one less and one more,
/// and of sizes that images have. A grid of more cells than `most.often` is cut to the frames, or rows and columns, of
/// which a call has room, and asked for as a whole, as far as `most.once` goes, in some walks and parts.
std::vector<CellCall> cell_calls(std::span<const std::int64_t> sides, const MostTokens& most);

/// One of no list: one or two parts of the grid in walks that the number draws, of at most `most` tokens.
CellCall drawn_cell_call(std::span<const std::int64_t> sides, std::int64_t most, std::int64_t number);

}  // namespace sextant::gen
