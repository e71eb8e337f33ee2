#pragma once

#include <span>
#include <string>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace sextant {

/// One line for a command line that the parser refused: which subcommand, what is missing or not known, and what is
/// near it. `words` are those that were parsed, the program's name first.
std::string text_of(const CLI::App& app, std::span<const char* const> words, const CLI::ParseError& error);

}  // namespace sextant
