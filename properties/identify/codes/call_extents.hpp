#pragma once

#include <string>

#include "lib/spec/spec.hpp"
#include "properties/identify/counted_session.hpp"

namespace sextant::identify {

/// By what of each call a code's positions are divided, in words, where the claim divides them by its own last ones and
/// every answer is right under another claim for each call: "positions are divided by the greatest of their call, not
/// by the claim's last one, 4095". Empty where answers are right as claimed or explained by nothing that is tried.
/// @throws SubjectFailure, Interrupted.
std::string words_of_call_extents(CountedSession& session, const Spec& claim);

}  // namespace sextant::identify
