#pragma once

#include <memory>

#include "subjects/subject.hpp"

namespace sextant {

/// Sextant's own encoders (lib/) as a subject: `builtin`.
std::unique_ptr<Subject> builtin_subject();

}  // namespace sextant
