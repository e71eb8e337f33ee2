#pragma once

#include "properties/identify/identification.hpp"
#include "subjects/subject.hpp"

namespace sextant::identify {

/// What `subject` computes when it is asked under the claim `probe`, from its answers alone: the claim gives the
/// operation, the sizes, the dtype and the positions that may be asked, and of the rest what the answers leave open.
/// Of rope, rotary_table, sinusoidal, alibi and relative_bias; of another encoding it says that none is known.
/// Fewer than 200 calls. @throws SubjectFailure, Interrupted.
Identification identify(const Subject& subject, const Spec& probe);

}  // namespace sextant::identify
