#pragma once

#include <memory>
#include <string>

#include "subjects/open.hpp"

namespace sextant {

/// The subject of that name: those of subjects/open.hpp, and `mutant:NAME` and `recipe:NAME` (properties/mutants/).
/// @throws SubjectNameError
std::unique_ptr<Subject> subject_from_argument(const std::string& name, const Spec& spec, const OpenOptions& options);

}  // namespace sextant
