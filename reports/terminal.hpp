#pragma once

#include <string>

#include "reports/report.hpp"

namespace sextant {

/// Whether to use colour: only for a terminal.
enum class Colour { none, ansi };

/// How much is told: the summary, what is wrong and the names of the rest; or every property in lines of its own.
enum class Detail { brief, every_property };

/// The report as text of at most 120 columns where names allow: the summary first, then what is wrong.
std::string write_terminal(const Report& report, Colour colour, Detail detail = Detail::brief);

}  // namespace sextant
