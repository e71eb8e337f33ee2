#pragma once

#include "properties/identify/identification.hpp"
#include "subjects/subject.hpp"

namespace sextant::identify {

/// What `subject` computes when it is asked under the claim `probe`, from its answers alone: the claim gives the
/// operation, the sizes, the dtype and the positions that may be asked, and of the rest what the answers leave open.
/// Of rope, rope_nd, xpos, qk_norm_rope, rotary_table, sinusoidal, sinusoidal_2d, sinusoidal_nd, alibi, relative_bias
/// and attention; of another encoding it says that no way is known.
/// Fewer than 200 calls. @throws SubjectFailure, Interrupted.
Identification identify(const Subject& subject, const Spec& probe);

}  // namespace sextant::identify
