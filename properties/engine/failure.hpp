#pragma once

#include <string>

#include "properties/verdict/verdict.hpp"
#include "subjects/subject.hpp"

namespace sextant {

/// What the verdict is when the subject fails in this way.
Verdict verdict_of(FailureKind kind);

/// Whether the session is over after it: the process is gone or out of step. Else the subject has refused the call.
constexpr bool ends_session(FailureKind kind) { return kind != FailureKind::unsupported && kind != FailureKind::error; }

/// The failure in one line, its kind first unless it is that the subject has not the operation.
std::string text_of(const SubjectFailure& failure);
/// The same with the line of the subject's own code that it comes from, where that is known: "reported an error: no (at
/// mine.py, line 7)".
std::string text_with_place_of(const SubjectFailure& failure);

}  // namespace sextant
