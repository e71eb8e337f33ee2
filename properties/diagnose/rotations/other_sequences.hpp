#pragma once

#include <optional>
#include <vector>

#include "lib/spec/spec.hpp"
#include "properties/identify/rotations/taken_vectors.hpp"
#include "subjects/subject.hpp"

namespace sextant::identify {

/// Rotations by positions that are made anew from some of the row's own, its first, second, last, least and greatest:
/// counted or stepped from one of them, spread between two, ranks, counts of what came before; in all calls, or in
/// those of some extents and rows. A token alone has its own position by most of them. Of one axis; nothing of other
/// encodings.
std::vector<VectorReading> other_sequences(const Spec& claim);

/// The same in calls of so many tokens and more, where no shorter one is wrong: the first length at which calls are
/// wrong is sought by asking, between one that is right and the shortest of `asked` that is not. More calls are added
/// to `asked`, whose wrong vectors are known. Nothing where calls of one or two tokens are wrong. @throws
/// SubjectFailure, Interrupted.
std::optional<VectorReading> sequence_of_long_calls(AskedVectors& asked, Session& session, const Spec& claim);

}  // namespace sextant::identify
