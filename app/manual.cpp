#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <span>
#include <string_view>

#include "app/command.hpp"
#include "app/command_tree.hpp"

// The manual page, in the macros of man(7).

namespace sextant {
namespace {

// Text of a page: a backslash begins a request, a hyphen is no minus, and a line must not begin with a control letter.
std::string roff(std::string_view text) {
  std::string made = text.starts_with('.') || text.starts_with('\'') ? "\\&" : "";
  for (const char letter : text) {
    if (letter == '\\') {
      made += "\\e";
    } else if (letter == '-') {
      made += "\\-";
    } else {
      made += letter;
    }
  }
  return made;
}

std::string in_capitals(std::string text) {
  std::ranges::transform(text, text.begin(), [](char letter) {
    return letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A') : letter;
  });
  return text;
}

// "audit SUBJECT [OPTIONS]" behind the program's name.
std::string usage_of(const CommandNode& node) {
  std::string usage = fmt::format("\\fB{}\\fR", roff(node.path()));
  for (const CommandOption& positional : node.positionals)
    usage += fmt::format(" \\fI{}\\fR", roff(in_capitals(positional.names.front())));
  return usage + " [\\fIOPTIONS\\fR]";
}

std::string paragraph_of(const CommandOption& option, std::string_view value) {
  std::string text = ".TP\n";
  for (std::size_t i = 0; i < option.names.size(); ++i)
    text += fmt::format("{}\\fB{}\\fR", i == 0 ? "" : ", ", roff(option.names[i]));
  if (!value.empty()) text += fmt::format(" \\fI{}\\fR", roff(value));
  text += fmt::format("\n{}.", roff(option.meaning));
  // Long lists are those of `sextant list`.
  constexpr std::size_t longest = 8;
  if (!option.choices.empty() && !option.takes_others && option.choices.size() <= longest) {
    text += "\nOne of";
    for (std::size_t i = 0; i < option.choices.size(); ++i)
      text += fmt::format("{} {}", i == 0 ? "" : ",", roff(option.choices[i]));
    text += '.';
  }
  if (!option.fallback.empty()) text += fmt::format("\nUnless given: {}.", roff(option.fallback));
  return text + "\n";
}

std::string section_of(const CommandNode& node) {
  std::string text = fmt::format(".SS {}\n{}.\n", usage_of(node), roff(node.meaning));
  for (const CommandOption& positional : node.positionals) {
    CommandOption shown = positional;
    shown.names = {in_capitals(positional.names.front())};
    text += paragraph_of(shown, "");
  }
  for (const CommandOption& option : node.options) {
    if (option.names.front() != "--help") text += paragraph_of(option, option.value);
  }
  return text;
}

struct Entry {
  std::string_view name;
  std::string_view meaning;
};

constexpr Entry exit_statuses[] = {
    {"0", "Every applicable property holds; with --baseline, nothing is worse than there"},
    {"1", "A property is violated, or report compare or --baseline found a regression"},
    {"2", "A wrong command line, spec or file, told in one line on standard error"},
    {"3", "The subject crashed, hung or broke the protocol, and nothing is violated"},
    {"4", "Nothing applicable ran, a verdict stayed undecided, or the report is partial"},
    {"130", "Interrupted: a line on standard error says how to go on, if the audit has a --report"}};

constexpr Entry variables[] = {
    {"NO_COLOR", "Not empty: no colour unless --color says always"},
    {"SEXTANT_PYTHON", "The interpreter for python: subjects, unless --python names one"},
    {"SEXTANT_SHARE", "The folder of the Python worker, in place of ../share/sextant beside the command"},
    {"SEXTANT_LIBEXEC", "The folder of what loads plugins, in place of ../libexec/sextant"},
    {"SEXTANT_FORCE_TARGET", "The instruction set of the encoders' kernels (sextant list targets)"}};

std::string section_of(std::string_view title, std::span<const Entry> entries) {
  std::string text = fmt::format(".SH {}\n", title);
  for (const Entry& entry : entries)
    text += fmt::format(".TP\n\\fB{}\\fR\n{}.\n", roff(entry.name), roff(entry.meaning));
  return text;
}

constexpr std::string_view examples[] = {"sextant audit python:rotary.py --spec llama-2-7b",
                                         "sextant audit plugin:./rotary.so --hf-config config.json --report out",
                                         "sextant spec --spec llama-2-7b | sextant grade python:rotary.py --spec -",
                                         "sextant table --spec transformer-512 --positions 0:131072 --out table.npy"};

std::string page_of(const CommandNode& tree) {
  std::string text = ".\\\" Made by `sextant man`.\n";
  text += fmt::format(".TH SEXTANT 1 \"\" \"sextant {}\" \"User Commands\"\n", roff(SEXTANT_VERSION));
  text += ".SH NAME\nsextant \\- verify positional encodings against proofs instead of tolerances\n";
  text += ".SH SYNOPSIS\n\\fBsextant\\fR \\fICOMMAND\\fR [\\fIOPTIONS\\fR]\n";
  text +=
      ".SH DESCRIPTION\nSextant asks an implementation of a positional encoding for its values and compares each with "
      "an "
      "interval that contains\nthe true real number.\nIt prints a verdict for each mathematical property, the smallest "
      "counterexample, and how to see it again.\n";
  text += ".SH OPTIONS\n";
  for (const CommandOption& option : tree.options) text += paragraph_of(option, option.value);
  text += ".SH COMMANDS\n";
  for (const CommandNode* node : all_of(tree)) {
    if (node->words.size() > 1) text += section_of(*node);
  }
  text += section_of("EXIT STATUS", exit_statuses) + section_of("ENVIRONMENT", variables);
  text += ".SH EXAMPLES\n.nf\n";
  for (const std::string_view example : examples) text += roff(example) + "\n";
  return text + ".fi\n";
}

}  // namespace

Run add_manual(CLI::App& app) {
  app.add_subcommand("man", "Print the manual page, sextant.1");
  return [&app] {
    fmt::print("{}", page_of(tree_of(app)));
    return 0;
  };
}

}  // namespace sextant
