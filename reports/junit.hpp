#pragma once

#include <string>

#include "reports/report.hpp"

namespace sextant {

/// The report as JUnit XML, the form that CI dashboards read: a suite per audit, a case per property; violated is a
/// failure, crashed, timed_out and undecided are errors, not_applicable and unsupported are skipped.
std::string write_junit(const Report& report);

}  // namespace sextant
