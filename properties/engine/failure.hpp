#pragma once

#include <string>

#include "properties/verdict/verdict.hpp"
#include "subjects/subject.hpp"

namespace sextant {

/// What the verdict is when the subject fails in this way.
Verdict verdict_of(FailureKind kind);

/// The failure in one line, its kind first unless it is that the subject has not the operation.
std::string text_of(const SubjectFailure& failure);

}  // namespace sextant
