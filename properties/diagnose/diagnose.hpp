#pragma once

#include <optional>

#include "lib/spec/spec.hpp"
#include "properties/diagnose/places/wrong_places.hpp"
#include "properties/verdict/diagnosis.hpp"
#include "subjects/subject.hpp"

namespace sextant::identify {

/// The differences between a claim and what the subject computes under it, of a recorded subject at the positions that
/// it has; nothing where no way is known to tell such claims, or where what was seen is what is claimed. A changed
/// claim is audited shortly, and fields that neither that nor the first claim's answers confirm are not told. Where no
/// way tells more, wrong values are told by what they have in common, which takes a proposer. Of a subject that
/// fails meanwhile the calls that it refuses are told. @throws Interrupted.
std::optional<Diagnosis> diagnose(const Subject& subject, const Spec& claim, const Clues& clues = {});

}  // namespace sextant::identify
