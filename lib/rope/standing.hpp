#pragma once

#include "lib/numeric/heads.hpp"
#include "lib/rope/job.hpp"
#include "lib/spec/rope.hpp"

namespace sextant {

/// Heads of which nothing turns (rope_type none): every channel of y is the channel of x that the pass carries to it,
/// bit for bit, whatever the position. Precondition: as RopeJob's.
void carry(const Rope& encoding, const RopePass& pass, const ConstHeads& x, const Heads& y);

}  // namespace sextant
