#pragma once

#include <string>

#include "reports/report.hpp"

namespace sextant {

/// The report as Markdown for a pull request or a job summary: the headline, a table of properties, each counterexample
/// with the command that replays it.
std::string write_markdown(const Report& report);

}  // namespace sextant
