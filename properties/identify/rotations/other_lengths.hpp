#pragma once

#include <vector>

#include "properties/identify/rotations/taken_vectors.hpp"

namespace sextant::identify {

/// The rope that a spec turns by, if it is a rotation that has one.
const Rope* rope_of(const Spec& spec);

/// The spec with the rope changed that it turns by.
Spec with_rope(Spec spec, const std::function<void(Rope& rope)>& change);

/// Makes a rule that looks at a length what it is at this one, in calls of every length.
void fix_length(Rope& rope, double length);

/// xPos' centre of a call of this length.
std::int64_t centre_at(HalfOfCall half, std::int64_t length);

/// What a claim takes a vector for, whose rule and centre are those of its call's length, whatever the length of a call
/// of this vector alone.
TakenVector as_claimed(const Spec& claim, const VectorInCall& vector);

/// Rotations whose scaling rule takes another length than the claimed one, or takes it otherwise: "all batch rows take
/// the first one's length". Nothing of rules that say no length.
std::vector<VectorReading> other_lengths(const Spec& claim);

/// The positions of calls that tell such lengths apart: below, at and above the one at which frequencies change, of one
/// token and of many, with batch rows of different lengths. Nothing where the claim has no such length.
std::vector<CallPlaces> calls_about_lengths(const Spec& claim);

}  // namespace sextant::identify
