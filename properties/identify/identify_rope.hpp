#pragma once

#include "properties/identify/counted_session.hpp"
#include "properties/identify/identification.hpp"

namespace sextant::identify {

/// What the subject of a session computes that was opened under `claim`, of this rope. @throws SubjectFailure,
/// Interrupted.
Identification identify_rope(CountedSession& session, const Spec& claim, const Rope& rope);

/// The same of a table of cosines and sines.
Identification identify_rotary_table(CountedSession& session, const Spec& claim, const RotaryTable& table);

}  // namespace sextant::identify
