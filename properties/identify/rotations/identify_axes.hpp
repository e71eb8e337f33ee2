#pragma once

#include "properties/identify/counted_session.hpp"
#include "properties/identify/identification.hpp"

namespace sextant::identify {

/// What the subject of a session computes that was opened under `claim`, of this rotation over several axes: each axis
/// alone is asked as a rope is, the others' coordinates being 0. Of normalized coordinates, and
/// where the axes show nothing alone, the claims that they are mistaken for are tried; rules that look at a call's
/// length are not told. @throws SubjectFailure, Interrupted.
Identification identify_rope_nd(CountedSession& session, const Spec& claim, const RopeNd& encoding);

/// The same of codes of several coordinates: the channels of each axis, base, denominator, offset, units.
Identification identify_sinusoidal_nd(CountedSession& session, const Spec& claim, const SinusoidalNd& table);
Identification identify_sinusoidal_2d(CountedSession& session, const Spec& claim, const Sinusoidal2d& table);

}  // namespace sextant::identify
