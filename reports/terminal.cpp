#include "reports/terminal.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "reports/text.hpp"

namespace sextant {
namespace {

std::string painted(Colour colour, std::string_view code, const std::string& text) {
  return colour == Colour::none ? text : fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

std::string verdict_word(Colour colour, Verdict verdict) {
  std::string word = fmt::format("{:<14}", verdict == Verdict::violated ? "VIOLATED" : name_of(verdict));
  switch (verdict) {
    case Verdict::holds: return painted(colour, "32", word);
    case Verdict::violated: return painted(colour, "1;31", word);
    case Verdict::crashed:
    case Verdict::timed_out: return painted(colour, "1;35", word);
    case Verdict::undecided: return painted(colour, "33", word);
    case Verdict::not_applicable:
    case Verdict::unsupported: return painted(colour, "2", word);
  }
  return word;
}

std::string example_lines(const PropertyResult& result, std::string_view label, const Example& example) {
  constexpr std::size_t indent = 14;
  const bool alone = !needs_other_calls(result);
  const std::string finding =
      alone ? example.finding : fmt::format("{}. Run the audit with --only {}", example.finding, result.id);
  return fmt::format("    {:<9} {}\n{:{}}--replay {}{}\n", label, wrapped(printable(finding), indent, 110), "", indent,
                     example.token, alone ? "" : " will hold");
}

std::string result_lines(const Report& report, const PropertyResult& result, Colour colour) {
  const std::string word = is_aside(report, result) && result.verdict == Verdict::violated
                               ? painted(colour, "33", fmt::format("{:<14}", "advice"))
                               : verdict_word(colour, result.verdict);
  std::string line = fmt::format("  {:<20} {}", result.id, word);
  const bool judged = is_judged(result);
  if (judged) line += fmt::format(" {}", cases_text(result.cases));
  // A witness of what the encoding lacks is beyond the bound, as it has to be.
  if (judged && !(result.theory == Theory::fails && result.verdict == Verdict::holds))
    line += fmt::format(", worst {}", of_bound_text(result.worst->deviation));
  // A long note beside a verdict has lines of its own.
  constexpr std::size_t longest_note = 72;
  const std::string reason = printable(result.reason);
  if (judged && reason.size() > longest_note) {
    line += ";\n    " + wrapped(reason, 4, 110);
  } else if (!reason.empty()) {
    line += fmt::format("{} {}", judged ? ";" : "", reason);
  }
  line += '\n';
  if (const auto coverage = coverage_text(result)) line += fmt::format("    {:<9} {}\n", "swept", *coverage);
  if (result.simplest) {
    // Where the subject failed, the reason above has told all but the case.
    if (result.verdict != Verdict::violated)
      return line + fmt::format("    {:<9} --replay {}\n", "case", result.simplest->token);
    line += fmt::format("    {}\n", result.title) + example_lines(result, "simplest", *result.simplest);
    if (result.worst->token != result.simplest->token) line += example_lines(result, "worst", *result.worst);
  }
  return line;
}

}  // namespace

std::string write_terminal(const Report& report, Colour colour) {
  std::string text = fmt::format("sextant {}: {}\n", report.sextant_version, printable(report.subject));
  if (!report.subject_name.empty()) text += fmt::format("  subject  {}\n", printable(report.subject_name));
  if (!report.subject_version.empty()) text += fmt::format("  version  {}\n", printable(report.subject_version));
  constexpr std::size_t of_claim = 11;
  text += fmt::format("  claim    {}\n", wrapped(printable(claim_text(report)), of_claim, 110));
  for (const std::string& note : report.claim_notes)
    text += fmt::format("{:{}}{}\n", "", of_claim, wrapped("note: " + printable(note), of_claim, 110));
  text += fmt::format("  profile  {}\n\n", profile_text(report));
  // Properties that say nothing here, together by the reason.
  std::vector<std::pair<std::string, std::vector<std::string>>> not_applicable;
  for (const PropertyResult& result : report.results) {
    if (result.verdict == Verdict::not_applicable) {
      auto group = std::ranges::find(not_applicable, result.reason, [](const auto& one) { return one.first; });
      if (group == not_applicable.end()) group = not_applicable.insert(not_applicable.end(), {result.reason, {}});
      group->second.push_back(result.id);
    } else {
      text += result_lines(report, result, colour);
    }
  }
  for (const auto& [reason, ids] : not_applicable) {
    text += painted(colour, "2",
                    "  " + wrapped(fmt::format("not applicable ({}): {}", printable(reason), fmt::join(ids, ", ")), 4,
                                   110)) +
            "\n";
  }
  for (const std::string& note : report.notes)
    text += fmt::format("  {}\n", wrapped("note: " + printable(note), 4, 110));
  if (!report.missing.empty()) {
    text +=
        painted(colour, "33",
                "  " + wrapped(fmt::format("not judged, the run was cut short: {}", fmt::join(report.missing, ", ")), 4,
                               110)) +
        "\n";
  }
  const bool has_examples = std::any_of(report.results.begin(), report.results.end(),
                                        [](const PropertyResult& result) { return result.simplest.has_value(); });
  if (has_examples) text += fmt::format("\nreplay a case: {} --replay TOKEN\n", printable(report.command));
  const bool good = report.exit_status == 0;
  text += fmt::format("\n{}\n", painted(colour, good ? "1;32" : "1;31", headline(report)));
  return text;
}

}  // namespace sextant
