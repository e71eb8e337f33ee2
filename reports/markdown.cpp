#include "reports/markdown.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <span>
#include <string>
#include <vector>

#include "properties/verdict/bound_text.hpp"
#include "reports/summary.hpp"
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

std::string verdict_text(const Report& report, const PropertyResult& result) {
  return is_aside(report, result) ? "advice not followed" : escaped(std::string(name_of(result.verdict)));
}

std::string worst_text(const PropertyResult& result) {
  if (!is_judged(result)) return escaped(result.reason);
  std::string text = bound_text(result.worst->deviation.of_bound);
  if (!result.reason.empty()) text += fmt::format("; {}", escaped(result.reason));
  return text;
}

std::string cases_cell(const PropertyResult& result) {
  const auto coverage = coverage_text(result);
  return coverage ? fmt::format("{}; {}", result.cases, *coverage) : fmt::format("{}", result.cases);
}

std::string example_text(const Report& report, const PropertyResult& result, std::string_view label,
                         const Example& example) {
  return fmt::format("- {}: {}\n  {}\n", label, escaped(example.finding),
                     code(replay_command(report, result, example)));
}

std::string examples_text(const Report& report, const PropertyResult& result) {
  if (!result.simplest) return "";
  std::string text = fmt::format("\n## {}: {}\n\n{}\n\n```\n{}\n```\n\n", result.id, verdict_text(report, result),
                                 escaped(result.title), statement_of(report, result));
  text += example_text(report, result, result.verdict == Verdict::violated ? "simplest" : "case", *result.simplest);
  if (result.verdict == Verdict::violated && result.worst->token != result.simplest->token)
    text += example_text(report, result, "worst", *result.worst);
  return text;
}

// A fence longer than any run of backticks in it.
std::string fenced(const std::string& raw) {
  const std::string text = printable(raw);
  std::string fence = "```";
  while (text.find(fence) != std::string::npos) fence += '`';
  return fmt::format("{0}\n{1}\n{0}\n", fence, text);
}

std::string stop_text(const Stop& stop) {
  std::string text;
  if (!stop.place.file.empty()) text += fmt::format("At {}.\n\n", code(place_text(stop.place)));
  if (!stop.fix.empty()) text += fmt::format("Likely fix: {}.\n\n", escaped(stop.fix));
  return text;
}

std::string table_text(const Report& report) {
  std::string text = "\n## Properties\n\n| property | verdict | cases | worst |\n|---|---|---:|---|\n";
  std::vector<std::string> silent;
  for (const PropertyResult& result : report.results) {
    if (result.verdict == Verdict::not_applicable) {
      silent.push_back(code(result.id));
      continue;
    }
    const bool is_violated = result.verdict == Verdict::violated && !is_aside(report, result);
    text += fmt::format("| {} | {} | {} | {} |\n", code(result.id),
                        is_violated ? "**violated**" : verdict_text(report, result), cases_cell(result),
                        worst_text(result));
  }
  if (!silent.empty()) text += fmt::format("\nNot applicable, {}: {}.\n", silent.size(), fmt::join(silent, ", "));
  return text;
}

}  // namespace

std::string write_markdown(const Report& report) {
  const std::vector<SummaryLine> summary = summary_lines(report);
  std::string text = fmt::format("# Sextant: {}\n\n", escaped(summary.front().text));
  for (const SummaryLine& line : std::span(summary).subspan(1)) {
    text +=
        line.kind == SummaryKind::command ? "Audit it:\n\n" + fenced(line.text) : escaped(sentence(line.text)) + "\n";
    text += '\n';
  }
  if (report.stop) text += stop_text(*report.stop);
  text += code(report.subject);
  for (const std::string& said : {report.subject_name, report.subject_version}) {
    if (!said.empty()) text += fmt::format(", {}", escaped(said));
  }
  text += fmt::format(". Profile {}, Sextant {}.\n\nClaim: {}.\n", profile_text(report), report.sextant_version,
                      code(claim_text(report)));
  for (const std::string& note : report.claim_notes) text += fmt::format("\nOf the claim: {}.\n", escaped(note));
  if (!report.missing.empty()) {
    text += "\n**This report is partial: the run was cut short.** Not judged:";
    for (const std::string& id : report.missing)
      text += fmt::format("{} {}", &id == &report.missing.front() ? "" : ",", code(id));
    text += ".\n";
  }
  for (const std::string& note : report.notes) text += fmt::format("\nNote: {}.\n", escaped(note));
  if (report.stop) return report.stop->traceback.empty() ? text : text + "\n" + fenced(report.stop->traceback);
  // What is wrong, the table of all, and the witnesses of what holds.
  const auto examples = [&](auto is_told) {
    for (const PropertyResult& result : report.results) {
      if (is_told(result)) text += examples_text(report, result);
    }
  };
  const auto holds = [](const PropertyResult& result) { return result.verdict == Verdict::holds; };
  examples([&](const PropertyResult& result) { return !holds(result) && !is_aside(report, result); });
  examples([&](const PropertyResult& result) { return is_aside(report, result); });
  text += table_text(report);
  examples(holds);
  return text;
}

}  // namespace sextant
