#pragma once

#include <string>

#include "lib/spec/spec.hpp"
#include "subjects/subject.hpp"

namespace sextant::identify {

/// How whole turns are taken from float32 angles: "angles are reduced by a float32 2 pi, 6.28318548, not by 2 pi".
/// Empty where angles that lose none explain the answers as well, or no way that is tried explains every one; of claims
/// of whole positions in float32 alone. `spec` has the subject's own frequencies. @throws SubjectFailure, Interrupted.
std::string words_of_float32_turns(Session& session, const Spec& spec);

}  // namespace sextant::identify
