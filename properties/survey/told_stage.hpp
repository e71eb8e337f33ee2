#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lib/spec/spec.hpp"
#include "properties/model/encoded_pairs.hpp"
#include "reference/stages.hpp"
#include "subjects/subject.hpp"

namespace sextant {

/// What a subject answered in one call at positions that rise from 0, or the claim's first, to its last, and what is
/// true.
struct AnsweredGrid {
  const std::vector<std::int64_t>& positions;
  const Rows& rows;
  const std::vector<EncodedPairs::Truth>& truth;
};

/// The stage (reference/stages.hpp) that adds most to the values up to the first that are not as claimed, and at three
/// positions beyond them; of values that all are as claimed, to all. Without what it adds all of them must be as
/// claimed, else none is told.
///
/// The oracle tells it, given what the subject had: its frequencies, from phases at powers of two; its angles, from the
/// phases of its sines and cosines where they are further from the frequency's multiples than the table is from the
/// unit circle; its table, from what it makes of unit vectors; and, of rotations, other vectors turned by that table.
/// What a last rounding may have made is taken for one. Where norms change by more than any table's do, what is done
/// to a pair is no rotation, and a code's pair no sine and cosine; where all pairs turn the other way, sines have the
/// other sign or stand where cosines do, which is the table's of codes and the rotation's of what turns vectors.
///
/// Nothing in claims without position 0, of values that are not finite, of rows of zeros, of pairs longer or shorter
/// than any rounding of a table makes them, of frequencies above half a turn, and where positions are too far for the
/// whole turns that a frequency's last bits come to.
///
/// @throws SubjectFailure, Interrupted.
std::optional<reference::Stage> told_stage(Session& session, EncodedPairs& encoded, const Spec& spec,
                                           const AnsweredGrid& grid);

}  // namespace sextant
