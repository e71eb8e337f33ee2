#pragma once

#include "properties/identify/counted_session.hpp"
#include "properties/identify/identification.hpp"

namespace sextant::identify {

/// What the subject of a session adds to scores that was opened under `claim`. @throws SubjectFailure, Interrupted.
Identification identify_alibi(CountedSession& session, const Spec& claim, const Alibi& alibi);
Identification identify_relative_bias(CountedSession& session, const Spec& claim, const RelativeBias& bias);

}  // namespace sextant::identify
