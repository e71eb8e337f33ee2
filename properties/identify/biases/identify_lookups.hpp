#pragma once

#include "properties/identify/counted_session.hpp"
#include "properties/identify/identification.hpp"

namespace sextant::identify {

/// Which rows of a weight, told apart by their values, the subject of a session reads that was opened under `claim`.
/// @throws SubjectFailure, Interrupted.
Identification identify_learned(CountedSession& session, const Spec& claim, const Learned& table);
Identification identify_window_bias(CountedSession& session, const Spec& claim, const WindowBias& bias);

/// Whether numbers and digits are normalized, or by what else, and in which order digits stand. @throws likewise.
Identification identify_integer(CountedSession& session, const Spec& claim, const Integer& code);
Identification identify_binary(CountedSession& session, const Spec& claim, const Binary& code);

/// Which of Fourier features' units, orders and ends the answers have, each tried alone. @throws likewise.
Identification identify_fourier(CountedSession& session, const Spec& claim, const Fourier& features);

/// The extents that offsets of a window are divided by, or which other formula their codes have. @throws likewise.
Identification identify_log_coordinates(CountedSession& session, const Spec& claim, const LogCoordinates& encoding);

}  // namespace sextant::identify
