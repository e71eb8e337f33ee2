#pragma once

#include "properties/identify/counted_session.hpp"
#include "properties/identify/identification.hpp"

namespace sextant::identify {

/// Whether values are off in proportion to their size, as rounded ones are, or all by as much, as those that come from
/// scores.
enum class ValueErrors { relative, absolute };

/// What the subject of a session computes that was opened under `claim`, of this rope. @throws SubjectFailure,
/// Interrupted.
Identification identify_rope(CountedSession& session, const Spec& claim, const Rope& rope,
                             ValueErrors errors = ValueErrors::relative);

/// The same of an xPos: lengths tell scale_base, role and centre.
Identification identify_xpos(CountedSession& session, const Spec& claim, const Xpos& xpos);

/// The same of queries that are normalized and turned: the weight's offset, epsilon, and which comes first.
Identification identify_qk_norm_rope(CountedSession& session, const Spec& claim, const QkNormRope& encoding);

/// The same of a table of cosines and sines.
Identification identify_rotary_table(CountedSession& session, const Spec& claim, const RotaryTable& table);

}  // namespace sextant::identify
