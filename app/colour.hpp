#pragma once

#include "reports/terminal.hpp"

namespace CLI {
class App;
}

namespace sextant {

/// What --color says.
enum class ColourChoice { automatic, always, never };

/// Adds --color auto|always|never.
void add_colour_option(CLI::App& command, ColourChoice& choice);

/// The colour of what is written to standard output. `automatic` is colour on a terminal, unless its TERM is "dumb" or
/// NO_COLOR is set and not empty (no-color.org); what --color says goes before both.
Colour colour_of(ColourChoice choice);

}  // namespace sextant
