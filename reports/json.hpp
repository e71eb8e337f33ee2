#pragma once

#include <string>

#include "reports/report.hpp"

namespace sextant {

/// The report as JSON, format "sextant-report", version 1. Floats are objects {"decimal", "hex"}, both strings, so that
/// NaN and infinity can stand in them and no digit is lost. Keys are in a fixed order; only "seconds" differs between
/// equal runs. "missing" is there in a partial report only.
std::string write_json(const Report& report);

/// The same on one line, without a line break at its end.
std::string write_json_line(const Report& report);

/// One property's entry of the report on one line, without a line break at its end.
std::string write_json_line(const Report& report, const PropertyResult& result);

}  // namespace sextant
