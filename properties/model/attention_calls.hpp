#pragma once

#include <cstdint>

#include "properties/gen/position.hpp"
#include "properties/model/attention_oracle.hpp"

namespace sextant {

/// Of so many fills one is of questions whose positions are spread over the range, one of those with gaps between, one
/// of those that repeat some, one of those whose batch rows lie far apart, and, where positions have several axes, one
/// of those that lie as Placement has them, or, beyond those, as some of gen::cell_calls do.
inline constexpr std::int64_t spread_in = 7;
inline constexpr std::int64_t runs_fill = 1;
inline constexpr std::int64_t repeats_fill = 2;
inline constexpr std::int64_t placed_fill = 3;
inline constexpr std::int64_t apart_fill = 4;

/// How many of those calls, of a grid of this many cells on each axis at most.
inline constexpr std::int64_t attended_cells = 36;
inline constexpr std::int64_t attended_side = 7;

/// Of so many fills one is of questions whose values are far from 1.
inline constexpr std::int64_t scaled_in = 11;
inline constexpr std::int64_t scaled_fill = 5;

/// The first positions whose queries are scaled by more than those before: the first of them in the range, those at
/// powers of two of the period, and the last; none where no query is scaled.
std::vector<std::int64_t> query_scale_borders(const Attention& encoding, const gen::PositionRange& range);

/// Leaves a gap after every eight positions of a row, as far as the range has room.
void space_runs(AttentionCase& request, const gen::PositionRange& range);

/// Moves the batch rows apart: the last to the range's end, the others between it and the first.
void part_rows(AttentionCase& request, const gen::PositionRange& range);

/// Makes of a drawn case one of a question of accuracy: other positions of the range, other values, as the fill says.
void vary(AttentionCase& request, const gen::PositionRange& range, std::int64_t fill);

}  // namespace sextant
