#include "app/parse_error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <string_view>
#include <vector>

#include "lib/spec/nearest_name.hpp"

namespace sextant {
namespace {

// A command of the line, and its words: "report compare".
struct Reached {
  const CLI::App* command;
  std::string path;
};

Reached last_command(const CLI::App& app) {
  Reached reached{&app, ""};
  while (!reached.command->get_subcommands().empty()) {
    reached.command = reached.command->get_subcommands().front();
    reached.path += (reached.path.empty() ? "" : " ") + reached.command->get_name();
  }
  return reached;
}

std::vector<std::string> subcommands_of(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* one : command.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(one->get_name());
  return names;
}

std::vector<std::string> options_of(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

// The first word that looks like an option and is none of the command's.
std::string unknown_option(const std::vector<std::string>& options, std::span<const char* const> words) {
  for (const std::string_view word : words) {
    if (word == "--") break;
    if (!word.starts_with("--")) continue;
    const std::string name(word.substr(0, word.find('=')));
    if (std::ranges::find(options, name) == options.end()) return name;
  }
  return {};
}

}  // namespace

std::string text_of(const CLI::App& app, std::span<const char* const> words, const CLI::ParseError& error) {
  const auto [command, path] = last_command(app);
  const std::string help = fmt::format("; {} {} --help says what it takes", app.get_name(), path);
  const std::string message = error.what();
  const bool is_required = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
  if (const std::vector<std::string> below = subcommands_of(*command); !below.empty() && is_required)
    return fmt::format("{}missing subcommand: expected one of {}", path.empty() ? "" : path + ": ",
                       fmt::join(below, ", "));
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    const std::vector<std::string> options = options_of(*command);
    if (const std::string unknown = unknown_option(options, words); !unknown.empty()) {
      const std::vector<std::string_view> known(options.begin(), options.end());
      const std::string near = did_you_mean(unknown, known);
      return fmt::format("{}: no such option of {}{}", unknown, path, near.empty() ? help : near);
    }
    const std::vector<std::string> extras = app.remaining(true);
    return fmt::format("{}: {} takes no such argument{}", fmt::join(extras, " "), path, help);
  }
  constexpr std::string_view required = " is required";
  if (is_required && message.ends_with(required)) {
    const std::string missing = message.substr(0, message.size() - required.size());
    return fmt::format("{}: missing argument: {}{}", path, missing, help);
  }
  if (const auto position = message.find(": 1 required");
      dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr && position != std::string::npos)
    return message.substr(0, position) + ": its value is missing";
  constexpr std::string_view too_many = ": At Most 1 required but received ";
  if (const auto position = message.find(too_many); position != std::string::npos)
    return fmt::format("{}: given {} times, expected once", message.substr(0, position),
                       message.substr(position + too_many.size()));
  // What stands by its place has a name of ours alone.
  for (const CLI::Option* option : command->get_options([](const CLI::Option* one) { return one->get_positional(); })) {
    if (const std::string name = option->get_name() + ": "; message.starts_with(name + "expected one of "))
      return fmt::format("{}: {}", path, message.substr(name.size()));
  }
  return message;
}

}  // namespace sextant
