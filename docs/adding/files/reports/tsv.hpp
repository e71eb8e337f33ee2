#pragma once

#include <string>

#include "reports/report.hpp"

namespace sextant {

/// A line for each property, its id, verdict and number of cases, between tabs: for spreadsheets and `cut`.
std::string write_tsv(const Report& report);

}  // namespace sextant
