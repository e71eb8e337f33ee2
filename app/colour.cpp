#include "app/colour.hpp"

#include <unistd.h>
#include <CLI/CLI.hpp>

#include <cstdlib>
#include <map>
#include <string>
#include <string_view>

#include "app/one_of.hpp"

namespace sextant {

void add_colour_option(CLI::App& command, ColourChoice& choice) {
  static const std::map<std::string, ColourChoice> choices{
      {"auto", ColourChoice::automatic}, {"always", ColourChoice::always}, {"never", ColourChoice::never}};
  one_of(command.add_option_function<std::string>(
             "--color", [&choice](const std::string& name) { choice = choices.at(name); },
             "Whether to colour what is printed: auto is on a terminal, unless NO_COLOR is set"),
         {"auto", "always", "never"})
      ->default_str("auto");
}

Colour colour_of(ColourChoice choice) {
  if (choice != ColourChoice::automatic) return choice == ColourChoice::always ? Colour::ansi : Colour::none;
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string_view(value == nullptr ? "" : value);
  };
  const bool wanted = variable("NO_COLOR").empty() && variable("TERM") != "dumb";
  return wanted && isatty(STDOUT_FILENO) != 0 ? Colour::ansi : Colour::none;
}

}  // namespace sextant
