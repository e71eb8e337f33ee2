#pragma once

#include <string>

#include "lib/spec/spec.hpp"
#include "subjects/subject.hpp"

namespace sextant::identify {

/// How values of a bias's weight change on their way, from one of every magnitude of the dtype: "weights beyond 65504
/// are clipped to it". Empty where all come back, where other values than those of one rule change, and of ALiBi.
/// @throws SubjectFailure, Interrupted.
std::string changed_weights(Session& session, const Spec& claim);

}  // namespace sextant::identify
