#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace sextant {

/// An option, a flag or a positional of a command, as its help tells of it.
struct CommandOption {
  std::vector<std::string> names;  ///< "--spec"; of a positional its word
  std::string value;               ///< "TEXT"; empty for a flag
  std::string meaning;
  std::string fallback;              ///< what it is unless given; empty where help says nothing of it
  std::vector<std::string> choices;  ///< values that can be told beforehand
  bool takes_others = false;         ///< whether files and other values may stand there too
};

/// A command with its subcommands, as plain data: what completions and the manual page are made of.
struct CommandNode {
  std::vector<std::string> words;  ///< "sextant", "report", "compare"
  std::string meaning;
  std::vector<CommandOption> options;
  std::vector<CommandOption> positionals;
  std::vector<CommandNode> subcommands;

  /// "sextant report compare".
  std::string path() const;
};

/// The tree of a parser, hidden options and subcommands left out. Values are those that the parser checks, and of
/// presets, properties, recipes and kinds of subjects those that there are.
CommandNode tree_of(const CLI::App& app);

/// A node and all below it, each before its subcommands.
std::vector<const CommandNode*> all_of(const CommandNode& tree);

}  // namespace sextant
