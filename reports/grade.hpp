#pragma once

#include <string>
#include <string_view>

#include "reports/report.hpp"

namespace sextant {

/// The report as one line of JSON for a program that asks for a verdict and little more, with a line break at its end:
/// "verdict", what all properties come to, as the exit status has it; "claim" in words; "properties", how many have
/// each verdict; "worst", the example nearest to its bound or farthest beyond, of those that must be within it;
/// "horizon", the least of all properties, null where no violation has a position; "first_violation" and
/// "first_failure", of the first property in the catalogue's order, or null; "exit" and "seconds". Numbers that JSON
/// has not are null.
std::string write_grade(const Report& report);

/// The line of an audit that did not come to a report: "verdict" is "error", and "error" says why.
std::string write_grade_of_error(std::string_view message, int exit_status);

}  // namespace sextant
