#pragma once

#include <string>

#include "reports/report.hpp"

namespace sextant {

/// The report as SARIF 2.1.0 (OASIS standard, March 2020): a rule for each property judged, a result for each that is
/// violated, or that the subject failed in; advice that was not followed is a note. One result a property keeps far
/// below GitHub's limits (25 MB, 5000 results shown). A result's fingerprint does not change with the counterexample
/// found, so that a violation is the same one in the next run.
std::string write_sarif(const Report& report);

}  // namespace sextant
