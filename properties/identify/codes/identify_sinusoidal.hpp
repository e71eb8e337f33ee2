#pragma once

#include "properties/identify/counted_session.hpp"
#include "properties/identify/identification.hpp"

namespace sextant::identify {

/// What the subject of a session computes that was opened under `claim`, of this table. @throws SubjectFailure,
/// Interrupted.
Identification identify_sinusoidal(CountedSession& session, const Spec& claim, const Sinusoidal& table);

}  // namespace sextant::identify
