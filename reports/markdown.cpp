#include "reports/markdown.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "reports/text.hpp"

namespace sextant {
namespace {

// Text inside a table cell or a paragraph: nothing in it is to be read as markup.
std::string escaped(const std::string& text) {
  std::string safe;
  for (const char letter : printable(text)) {
    if (std::string_view("\\`*_{}[]<>#|").find(letter) != std::string_view::npos) safe += '\\';
    safe += letter == '\n' ? ' ' : letter;
  }
  return safe;
}

// A code span holds backticks when its fence is longer than any run of them.
std::string code(const std::string& raw) {
  const std::string text = printable(raw);
  std::string fence = "`";
  while (text.find(fence) != std::string::npos) fence += '`';
  const bool pad = text.starts_with('`') || text.ends_with('`');
  return fmt::format("{0}{1}{2}{1}{0}", fence, pad ? " " : "", text);
}

std::string worst_text(const PropertyResult& result) {
  if (!is_judged(result)) return escaped(result.reason);
  std::string text = of_bound_text(result.worst->deviation);
  if (!result.reason.empty()) text += fmt::format("; {}", escaped(result.reason));
  return text;
}

std::string cases_text(const PropertyResult& result) {
  const auto coverage = coverage_text(result);
  return coverage ? fmt::format("{}; {}", result.cases, *coverage) : fmt::format("{}", result.cases);
}

std::string example_text(const Report& report, const PropertyResult& result, std::string_view label,
                         const Example& example) {
  return fmt::format("- {}: {}\n  {}\n", label, escaped(example.finding),
                     code(replay_command(report, result, example)));
}

}  // namespace

std::string write_markdown(const Report& report) {
  std::string text = fmt::format("# Sextant: {}\n\n", headline(report));
  text += code(report.subject);
  for (const std::string& said : {report.subject_name, report.subject_version}) {
    if (!said.empty()) text += fmt::format(", {}", escaped(said));
  }
  text += fmt::format(". Profile {}, Sextant {}.\n\nClaim: {}.\n\n", profile_text(report), report.sextant_version,
                      code(claim_text(report)));
  for (const std::string& note : report.claim_notes) text += fmt::format("Of the claim: {}.\n\n", escaped(note));
  if (!report.missing.empty()) {
    text += "**This report is partial: the run was cut short.** Not judged:";
    for (const std::string& id : report.missing)
      text += fmt::format("{} {}", &id == &report.missing.front() ? "" : ",", code(id));
    text += ".\n\n";
  }
  for (const std::string& note : report.notes) text += fmt::format("Note: {}.\n\n", escaped(note));
  text += "| property | verdict | cases | worst |\n|---|---|---:|---|\n";
  std::vector<std::string> silent;
  for (const PropertyResult& result : report.results) {
    if (result.verdict == Verdict::not_applicable) {
      silent.push_back(code(result.id));
      continue;
    }
    const std::string verdict = is_aside(report, result)              ? "advice not followed"
                                : result.verdict == Verdict::violated ? "**violated**"
                                                                      : escaped(std::string(name_of(result.verdict)));
    text += fmt::format("| {} | {} | {} | {} |\n", code(result.id), verdict, cases_text(result), worst_text(result));
  }
  if (!silent.empty()) text += fmt::format("\nNot applicable: {}.\n", fmt::join(silent, ", "));
  for (const PropertyResult& result : report.results) {
    if (!result.simplest) continue;
    text += fmt::format("\n## {}: {}\n\n{}\n\n```\n{}\n```\n\n", result.id,
                        escaped(std::string(name_of(result.verdict))), escaped(result.title), result.statement);
    text += example_text(report, result, result.verdict == Verdict::violated ? "simplest" : "case", *result.simplest);
    if (result.verdict == Verdict::violated && result.worst->token != result.simplest->token) {
      text += example_text(report, result, "worst", *result.worst);
    }
  }
  return text;
}

}  // namespace sextant
