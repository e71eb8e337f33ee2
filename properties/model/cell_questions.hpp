#pragma once

#include <rapidcheck.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "properties/gen/cells.hpp"
#include "properties/gen/placement.hpp"
#include "properties/gen/position.hpp"
#include "properties/model/question.hpp"
#include "properties/model/questions.hpp"

namespace sextant {

// The questions about grids of all encodings that have several axes: what gen/cells.hpp and gen/placement.hpp list, as
// calls about the coordinates of a claim.

/// Where the coordinates of a claim of several axes lie, and what is a grid there.
struct CellSpace {
  std::vector<gen::PositionRange> axes;  ///< of each axis its coordinates
  std::vector<std::int64_t> grid = {};   ///< the sides that the claim names; those of all coordinates where it is empty
  std::int64_t step = 1;                 ///< how far cells are apart, in counts
  std::int64_t values = 1;               ///< of a token: how large the calls are follows from it
  std::int64_t dearness = 1;             ///< how many times as long as a sinusoid's a value takes to be judged

  /// The sides of the grid, in cells.
  std::vector<std::int64_t> sides() const;
};

/// The questions that are always asked: those of gen::cell_calls, each from `position` on.
std::vector<Question> questions_of_cells(const CellSpace& space, std::int64_t position);

/// Some tokens placed as texts, images and films have them, from `position` on.
std::vector<Question> questions_of_placements(const CellSpace& space, std::int64_t position);

/// Those among them that have one count of tokens, and one first and last cell.
std::vector<Question> questions_of_same_ends(const CellSpace& space);

/// Whether a question is one of gen::cell_calls, of a drawing of cells or of a block of the sweep.
bool asks_for_cells(const Question& question);

/// Of four questions one is about cells that its fill draws.
rc::Gen<Question> with_drawn_cells(rc::Gen<Question> others, const CellSpace& space);

/// The positions [axes, tokens] of such questions in batch row `row`, which differ; nothing for any other question.
/// Tokens beyond those of the list's call are the first ones again. The first cell is the question's position, wrapped
/// round at the end of each axis, or the axis' first coordinate where that lies behind it.
std::optional<std::vector<std::int64_t>> cell_positions(const CellSpace& space, const Question& question,
                                                        std::int64_t row = 0);

/// Every cell of the claim, row after row, in blocks of many lengths (sweep_over), one by one, descending and in no
/// order.
SweepOf<Question> sweep_of_cells(const CellSpace& space);

/// The fill by which such a question's tables and vectors are drawn: one for some questions that follow each other,
/// since what is true under a table is dear to find; any other question's own.
std::int64_t drawing_of(std::int64_t fill);

/// How many cells it has; some number beyond any call's where they are more.
std::int64_t cells_of(const CellSpace& space);

}  // namespace sextant
