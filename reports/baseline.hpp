#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "reports/report.hpp"

namespace sextant {

// A baseline: of a report what `compare` looks at and nothing else, a line for each property, small enough to be kept
// beside the code and read in a diff. docs/ci.md has its fields.

/// The baseline of a report.
std::string write_baseline(const Report& report);

/// The report that a baseline tells of: its results have no titles, findings or tokens. @throws ReadError, naming the
/// field.
Report read_baseline(std::string_view text);

/// What a file of reports to compare with holds.
enum class ReferenceForm { report, baseline };

/// What newer reports are compared with.
struct Reference {
  Report report;
  ReferenceForm form = ReferenceForm::report;
};

/// Reads a report.json or a baseline. @throws ReadError, naming the file and the field.
Reference read_reference_file(const std::filesystem::path& path);

/// `report` in one of the forms.
std::string write_reference(const Report& report, ReferenceForm form);

}  // namespace sextant
