#pragma once

#include <string>

#include "lib/spec/spec.hpp"
#include "subjects/subject.hpp"

namespace sextant::identify {

/// Where answers are not those of a claim that explains all that was asked before: "in a call of 1 token from position
/// 1 on". Six calls are asked that the search for it makes none like: of one token, of many tokens in several rows, of
/// more heads than 8, of more rows than heads, to the end of the claim; and some of large vectors, and of many cells of
/// a grid. Empty where all meet it, or no bound is known; calls that the subject refuses tell nothing. @throws
/// Interrupted.
std::string answers_unlike(Session& session, const Spec& claim);

}  // namespace sextant::identify
