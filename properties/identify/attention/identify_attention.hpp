#pragma once

#include "properties/identify/counted_session.hpp"
#include "properties/identify/identification.hpp"

namespace sextant::identify {

/// What the subject of a session computes that was opened under `claim`, of this attention: which keys are seen, the
/// scores' scale and softcap, and what positions do: nothing, a slope of each head (ALiBi), or a rotation, which is
/// asked as a rope's by scores of two tokens. xPos and scaled queries are named only where they are the claim's and
/// every answer fits; a claim whose position has several axes or a weight is not told. @throws SubjectFailure,
/// Interrupted.
Identification identify_attention(CountedSession& session, const Spec& claim, const Attention& encoding);

}  // namespace sextant::identify
