#pragma once

#include <memory>

#include "subjects/subject.hpp"

namespace sextant {

/// Sextant's own encoders (lib/) as a subject: `builtin`. Where several threads ask at once, calls share the processors
/// among them: teams of threads that wait for each other's processors spin.
std::unique_ptr<Subject> builtin_subject(int judges = 1);

}  // namespace sextant
