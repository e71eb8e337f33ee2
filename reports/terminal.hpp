#pragma once

#include <string>

#include "reports/report.hpp"

namespace sextant {

/// Whether to use colour: only for a terminal.
enum class Colour { none, ansi };

/// The report as text of at most 120 columns where names allow.
std::string write_terminal(const Report& report, Colour colour);

}  // namespace sextant
