#pragma once

#include "properties/identify/identification.hpp"
#include "subjects/subject.hpp"

namespace sextant::identify {

/// What `identify` found of a rotation under `probe`, and where that is of low confidence or none, in words what a
/// diagnosis says of it: the probe with one thing changed that explains every answer to some hundred calls
/// (other_rotation). With the calls that `identify` took fewer than 200. @throws SubjectFailure, Interrupted.
Identification with_reading(const Subject& subject, const Spec& probe, Identification found);

}  // namespace sextant::identify
