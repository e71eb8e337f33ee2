#include "app/command_tree.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <sstream>
#include <utility>

#include "app/subject_argument.hpp"
#include "lib/spec/presets.hpp"
#include "properties/catalogue.hpp"
#include "reference/recipe.hpp"

namespace sextant {
namespace {

template <class List, class Name>
std::vector<std::string> names_in(const List& list, const Name& name_of) {
  std::vector<std::string> names;
  for (const auto& one : list) names.emplace_back(one.*name_of);
  return names;
}

struct Values {
  std::vector<std::string> choices;
  bool takes_others;
};

// What no check of the parser knows: these are refused later, with a suggestion.
Values values_named(const std::string& name) {
  if (name == "--spec") return {names_in(presets(), &Preset::name), true};
  if (name == "--only" || name == "--skip" || name == "property") return {names_in(catalogue(), &Property::id), false};
  if (name == "--as") return {names_in(reference::recipes(), &reference::Recipe::name), false};
  if (name == "subject") return {subject_beginnings(), true};
  return {{}, true};
}

// "TEXT:{half,interleaved}" is the type of a value that is checked.
CommandOption option_of(const CLI::Option& option) {
  CommandOption made;
  for (const std::string& name : option.get_lnames()) made.names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) made.names.push_back("-" + name);
  if (made.names.empty()) made.names.push_back(option.get_name());
  made.meaning = option.get_description();
  if (option.get_type_size() == 0) return made;
  made.fallback = option.get_default_str();
  const std::string type = option.get_type_name();
  made.value = type.substr(0, type.find(':'));
  const auto brace = type.find('{');
  if (brace == std::string::npos) {
    Values values = values_named(made.names.front());
    made.choices = std::move(values.choices);
    made.takes_others = values.takes_others;
    return made;
  }
  std::istringstream list(type.substr(brace + 1, type.find('}', brace) - brace - 1));
  for (std::string choice; std::getline(list, choice, ',');) made.choices.push_back(choice);
  return made;
}

CommandNode node_of(const CLI::App& app, std::vector<std::string> words) {
  words.push_back(app.get_name());
  CommandNode node;
  node.words = std::move(words);
  node.meaning = app.get_description();
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    (option->get_positional() ? node.positionals : node.options).push_back(option_of(*option));
  }
  for (const CLI::App* subcommand : app.get_subcommands({})) {
    if (!subcommand->get_group().empty()) node.subcommands.push_back(node_of(*subcommand, node.words));
  }
  return node;
}

void append(const CommandNode& node, std::vector<const CommandNode*>& nodes) {
  nodes.push_back(&node);
  for (const CommandNode& subcommand : node.subcommands) append(subcommand, nodes);
}

}  // namespace

std::string CommandNode::path() const { return fmt::format("{}", fmt::join(words, " ")); }

CommandNode tree_of(const CLI::App& app) { return node_of(app, {}); }

std::vector<const CommandNode*> all_of(const CommandNode& tree) {
  std::vector<const CommandNode*> nodes;
  append(tree, nodes);
  return nodes;
}

}  // namespace sextant
