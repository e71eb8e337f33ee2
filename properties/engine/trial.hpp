#pragma once

#include <functional>

#include "properties/engine/engine.hpp"
#include "properties/engine/property.hpp"

namespace sextant {

/// Judges a property's first and drawn cases; of a violation looks for the simplest counterexample and the worst.
/// `progress` is called after every case. @throws Interrupted, and SubjectNameError if the subject cannot be started at
/// all.
PropertyResult run_trial(const Property& property, const Subject& subject, const Spec& spec,
                         const AuditOptions& options, const std::function<void()>& progress);

/// Judges one case alone. Likewise.
PropertyResult run_case(const Property& property, const Subject& subject, const Spec& spec, const Case& values);

}  // namespace sextant
