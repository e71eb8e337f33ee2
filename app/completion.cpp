#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "app/command.hpp"
#include "app/command_tree.hpp"
#include "app/one_of.hpp"

namespace sextant {
namespace {

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

std::vector<std::string> names_of(const std::vector<CommandOption>& options) {
  std::vector<std::string> names;
  for (const CommandOption& option : options) names.insert(names.end(), option.names.begin(), option.names.end());
  return names;
}

// What may stand where a command expects no value: its subcommands and its positionals' values.
std::vector<std::string> words_after(const CommandNode& node) {
  std::vector<std::string> words;
  for (const CommandNode& subcommand : node.subcommands) words.push_back(subcommand.words.back());
  for (const CommandOption& positional : node.positionals)
    words.insert(words.end(), positional.choices.begin(), positional.choices.end());
  return words;
}

// "sextant audit"|"sextant report compare": the patterns of a shell's case that are commands below the first.
std::string patterns_of_commands(const CommandNode& tree) {
  std::vector<std::string> patterns;
  for (const CommandNode* node : all_of(tree)) {
    if (node->words.size() > 1) patterns.push_back(fmt::format("\"{}\"", node->path()));
  }
  return fmt::format("{}", fmt::join(patterns, "|"));
}

// Options of all commands that take the same values: those that can be told, and how a shell's case names the options,
// "sextant audit --spec"|"sextant spec --spec".
struct SameValues {
  std::vector<std::string> choices;
  bool takes_others;
  std::string patterns;
};

std::vector<SameValues> values_in(const CommandNode& tree) {
  std::vector<SameValues> all;
  for (const CommandNode* node : all_of(tree)) {
    for (const CommandOption& option : node->options) {
      if (option.value.empty()) continue;
      auto same = std::ranges::find_if(all, [&](const SameValues& one) {
        return one.choices == option.choices && one.takes_others == option.takes_others;
      });
      if (same == all.end()) same = all.insert(all.end(), {option.choices, option.takes_others, ""});
      for (const std::string& name : option.names)
        same->patterns += fmt::format("{}\"{} {}\"", same->patterns.empty() ? "" : "|", node->path(), name);
    }
  }
  return all;
}

// Words have no blanks, and none of the letters that a shell reads within double quotes. Where nothing is offered, or
// nothing that is offered fits, bash completes files (-o default). It cuts words at "=" and ":".
std::string bash_completion(const CommandNode& tree) {
  std::string text = R"(# Completion of sextant for bash, made by `sextant completion bash`.
_sextant() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} at=sextant offered= word
  if [[ $current == "=" ]]; then current=; elif [[ $previous == "=" ]]; then previous=${COMP_WORDS[COMP_CWORD-2]}; fi
  COMPREPLY=()
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$at $word" in
)";
  text += fmt::format("      {}) at=\"$at $word\" ;;\n", patterns_of_commands(tree));
  text += R"(    esac
  done
  case "$at $previous" in
    *" :") return ;;
)";
  for (const SameValues& values : values_in(tree))
    text += fmt::format("    {}) offered=\"{}\" ;;\n", values.patterns, fmt::join(values.choices, " "));
  text += R"(    *)
      case "$at" in
)";
  for (const CommandNode* node : all_of(tree)) {
    text += fmt::format("        \"{}\")\n          if [[ $current == -* ]]; then offered=\"{}\"\n", node->path(),
                        fmt::join(names_of(node->options), " "));
    text += fmt::format("          else offered=\"{}\"; fi ;;\n", fmt::join(words_after(*node), " "));
  }
  text += R"(      esac ;;
  esac
  [[ -n $offered ]] && mapfile -t COMPREPLY < <(compgen -W "$offered" -- "$current")
  [[ ${COMPREPLY[*]} != *: ]] || compopt -o nospace 2>/dev/null
  return 0
}
complete -o default -F _sextant sextant
)";
  return text;
}

std::string in_single_quotes_of_zsh(std::string_view word) { return replaced(std::string(word), "'", "'\\''"); }

// As _describe takes it, where a colon ends the word.
std::string described(const std::string& word, const std::string& meaning) {
  return fmt::format("'{}:{}'", replaced(in_single_quotes_of_zsh(word), ":", "\\:"), in_single_quotes_of_zsh(meaning));
}

std::string zsh_completion(const CommandNode& tree) {
  std::string text = R"(#compdef sextant
# Completion of sextant for zsh, made by `sextant completion zsh`: a file _sextant on the fpath, or sourced.
_sextant() {
  local at=sextant word previous=${words[CURRENT-1]}
  local -a offered
  for word in ${words[2,CURRENT-1]}; do
    case "$at $word" in
)";
  text += fmt::format("      {}) at=\"$at $word\" ;;\n", patterns_of_commands(tree));
  text += R"(    esac
  done
  case "$at $previous" in
)";
  for (const SameValues& values : values_in(tree))
    text += fmt::format("    {}) compadd -- {}; {}return ;;\n", values.patterns, fmt::join(values.choices, " "),
                        values.takes_others ? "_files; " : "");
  text += R"(  esac
  case "$at" in
)";
  for (const CommandNode* node : all_of(tree)) {
    text += fmt::format("    \"{}\")\n      if [[ $PREFIX == -* ]]; then\n        offered=(\n", node->path());
    for (const CommandOption& option : node->options) {
      for (const std::string& name : option.names)
        text += fmt::format("          {}\n", described(name, option.meaning));
    }
    text += "        )\n        _describe option offered\n      else\n        offered=(\n";
    for (const CommandNode& subcommand : node->subcommands)
      text += fmt::format("          {}\n", described(subcommand.words.back(), subcommand.meaning));
    text += "        )\n        _describe command offered\n";
    for (const CommandOption& positional : node->positionals) {
      std::vector<std::string> whole = positional.choices;
      const auto beginnings =
          std::ranges::stable_partition(whole, [](const std::string& word) { return !word.ends_with(':'); });
      const std::vector<std::string> begun(beginnings.begin(), beginnings.end());
      whole.erase(beginnings.begin(), whole.end());
      text += fmt::format("        compadd -- {}\n", fmt::join(whole, " "));
      text += fmt::format("        compadd -S '' -- {}\n", fmt::join(begun, " "));
      if (positional.takes_others) text += "        compset -P '*:'\n        _files\n";
    }
    text += "      fi ;;\n";
  }
  text += R"(  esac
}
if [[ $funcstack[1] == _sextant ]]; then _sextant "$@"; else compdef _sextant sextant; fi
)";
  return text;
}

std::string in_quotes_of_fish(const std::string& text) {
  return "'" + replaced(replaced(text, "\\", "\\\\"), "'", "\\'") + "'";
}

// Where the words before the cursor name the node, and no subcommand of it yet.
std::string condition_of(const CommandNode& node) {
  std::vector<std::string> parts;
  for (std::size_t i = 1; i < node.words.size(); ++i)
    parts.push_back(fmt::format("__fish_seen_subcommand_from {}", node.words[i]));
  std::vector<std::string> below;
  for (const CommandNode& subcommand : node.subcommands) below.push_back(subcommand.words.back());
  if (!below.empty()) parts.push_back(fmt::format("not __fish_seen_subcommand_from {}", fmt::join(below, " ")));
  return fmt::format("'{}'", fmt::join(parts, "; and "));
}

std::string fish_completion(const CommandNode& tree) {
  std::string text = "# Completion of sextant for fish, made by `sextant completion fish`.\n";
  for (const CommandNode* node : all_of(tree)) {
    const std::string line = fmt::format("complete -c sextant -n {}", condition_of(*node));
    for (const CommandNode& subcommand : node->subcommands)
      text += fmt::format("{} -f -a {} -d {}\n", line, subcommand.words.back(), in_quotes_of_fish(subcommand.meaning));
    for (const CommandOption& positional : node->positionals) {
      if (positional.choices.empty()) continue;
      text +=
          fmt::format("{}{} -a '{}'\n", line, positional.takes_others ? "" : " -f", fmt::join(positional.choices, " "));
    }
    for (const CommandOption& option : node->options) {
      text += line;
      for (const std::string& name : option.names)
        text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      if (!option.value.empty()) text += option.takes_others ? " -r" : " -x";
      if (!option.choices.empty()) text += fmt::format(" -a '{}'", fmt::join(option.choices, " "));
      text += fmt::format(" -d {}\n", in_quotes_of_fish(option.meaning));
    }
  }
  return text;
}

}  // namespace

Run add_completion(CLI::App& app) {
  auto shell = std::make_shared<std::string>();
  static const std::map<std::string, std::string (*)(const CommandNode&)> shells{
      {"bash", bash_completion}, {"zsh", zsh_completion}, {"fish", fish_completion}};
  CLI::App* command = app.add_subcommand("completion", "Print the completion of this command for a shell");
  one_of(command->add_option("shell", *shell, "For which")->required(), {"bash", "zsh", "fish"});
  return [&app, shell] {
    fmt::print("{}", shells.at(*shell)(tree_of(app)));
    return 0;
  };
}

}  // namespace sextant
