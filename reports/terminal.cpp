#include "reports/terminal.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "properties/verdict/bound_text.hpp"
#include "reports/summary.hpp"
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

// What replays a case, which shows nothing by itself where the result needs other calls before it.
std::string replay_text(const PropertyResult& result, const Example& example) {
  return fmt::format("--replay {}{}", example.token, needs_other_calls(result) ? " (alone it shows nothing)" : "");
}

std::string example_lines(const PropertyResult& result, std::string_view label, const Example& example) {
  constexpr std::size_t indent = 14;
  return fmt::format("    {:<9} {}\n{:{}}{}\n", label, wrapped(printable(example.finding), indent, 110), "", indent,
                     replay_text(result, example));
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
    line += fmt::format(", worst {}", bound_text(result.worst->deviation.of_bound));
  // A long note has lines of its own.
  constexpr std::size_t longest_note = 72;
  const std::string reason = printable(result.reason);
  if (reason.size() > longest_note) {
    while (line.ends_with(' ')) line.pop_back();
    line += (judged ? ";\n    " : "\n    ") + wrapped(reason, 4, 110);
  } else if (!reason.empty()) {
    line += fmt::format("{} {}", judged ? ";" : "", reason);
  }
  line += '\n';
  if (const auto coverage = coverage_text(result)) line += fmt::format("    {:<9} {}\n", "swept", *coverage);
  if (result.simplest) {
    // Where the subject failed, the reason above has told all but the case.
    if (result.verdict != Verdict::violated)
      return line + fmt::format("    {:<9} {}\n", "case", replay_text(result, *result.simplest));
    line += fmt::format("    {}\n", result.title) + example_lines(result, "simplest", *result.simplest);
    if (result.worst->token != result.simplest->token) line += example_lines(result, "worst", *result.worst);
  }
  return line;
}

// Results of the same verdict for the same reason.
using Alike = std::vector<const PropertyResult*>;

// Those of a verdict, together by the reason.
std::vector<Alike> groups_by_reason(const Report& report, Verdict verdict) {
  std::vector<Alike> groups;
  for (const PropertyResult& result : report.results) {
    if (result.verdict != verdict) continue;
    const auto group = std::ranges::find_if(groups, [&](const Alike& alike) {
      return alike.front()->reason == result.reason && is_aside(report, *alike.front()) == is_aside(report, result);
    });
    if (group == groups.end())
      groups.push_back({&result});
    else
      group->push_back(&result);
  }
  return groups;
}

// The properties in which the subject failed alike: the reason once, then the case of each.
std::string failure_lines(const Report& report, const Alike& failed, Colour colour) {
  if (failed.size() == 1) return result_lines(report, *failed.front(), colour);
  const std::string reason = fmt::format("in {} properties: {}", failed.size(), printable(failed.front()->reason));
  std::string text = fmt::format("  {}{}\n", verdict_word(colour, failed.front()->verdict), wrapped(reason, 16, 110));
  for (const PropertyResult* result : failed) {
    if (result->simplest)
      text += fmt::format("    {:<20} {}\n", result->id, replay_text(*result, *result->simplest));
    else
      text += fmt::format("    {}\n", result->id);
  }
  return text;
}

// The properties of a verdict that says nothing of the subject, together by the reason.
std::string lines_by_reason(const Report& report, Colour colour, Verdict verdict, std::string_view called) {
  std::string text;
  for (const Alike& alike : groups_by_reason(report, verdict)) {
    std::vector<std::string> ids;
    for (const PropertyResult* result : alike) ids.push_back(result->id);
    const std::string line = fmt::format("{} ({}): {}", called, printable(alike.front()->reason), fmt::join(ids, ", "));
    text += painted(colour, "2", "  " + wrapped(line, 4, 110)) + "\n";
  }
  return text;
}

std::string not_applicable_lines(const Report& report, Colour colour, Detail detail) {
  // Where nothing was judged, the reasons are all that there is to say.
  const bool is_idle = std::ranges::none_of(report.results, is_judged);
  if (detail == Detail::every_property || is_idle)
    return lines_by_reason(report, colour, Verdict::not_applicable, "not applicable");
  const std::int64_t properties = count(report, Verdict::not_applicable);
  if (properties == 0) return "";
  const std::string line = properties == 1
                               ? "not applicable: 1 property (--verbose names it)"
                               : fmt::format("not applicable: {} properties (--verbose names them)", properties);
  return painted(colour, "2", "  " + line) + "\n";
}

bool is_failure(const PropertyResult& result) {
  return result.verdict == Verdict::crashed || result.verdict == Verdict::timed_out;
}

bool is_unremarkable(const PropertyResult& result) {
  return result.verdict == Verdict::holds || result.verdict == Verdict::unsupported;
}

// Those that hold, the nearest to its bound first: near 1 there is no room left.
std::string held_lines(const Report& report, Colour colour) {
  std::vector<const PropertyResult*> held;
  std::vector<std::string> absent;
  for (const PropertyResult& result : report.results) {
    if (result.verdict != Verdict::holds) continue;
    if (result.theory == Theory::fails) {
      absent.push_back(result.id);
    } else {
      held.push_back(&result);
    }
  }
  std::ranges::stable_sort(held, std::ranges::greater(), [](const PropertyResult* result) {
    return result->worst ? result->worst->deviation.of_bound : 0;
  });
  std::vector<std::string> names;
  names.reserve(held.size());
  for (const PropertyResult* result : held) {
    const double of_bound = result->worst ? result->worst->deviation.of_bound : 0;
    const char* unit = names.empty() ? " of the bound" : "";
    names.push_back(of_bound > 0 ? fmt::format("{} {:.2g}{}", result->id, of_bound, unit) : result->id);
    if (result->unsupported > result->cases)
      names.back() += fmt::format(" ({} of {} cases)", result->cases, result->cases + result->unsupported);
  }
  const auto line = [&](std::string_view label, const std::vector<std::string>& list) {
    if (list.empty()) return std::string();
    return painted(colour, "32", fmt::format("  {:<9}", label)) +
           wrapped(fmt::format("{}", fmt::join(list, ", ")), 11, 110) + "\n";
  };
  const bool is_of_few =
      std::ranges::any_of(held, [](const PropertyResult* result) { return result->unsupported > result->cases; });
  if (is_of_few) names.back() += "; the other cases are unsupported";
  if (!absent.empty()) absent.back() += " (theory says that it fails, and a case shows it)";
  return line("hold", names) + line("absent", absent);
}

std::string indented(const std::string& text) {
  std::string lines = "    ";
  for (const char letter : text) lines += letter == '\n' ? std::string("\n    ") : std::string(1, letter);
  return lines;
}

// Where a subject that could not be asked failed, and what mends it.
std::string stop_lines(const Stop& stop) {
  std::string text;
  if (!stop.place.file.empty()) text += fmt::format("at {}\n", printable(place_text(stop.place)));
  if (!stop.fix.empty()) text += fmt::format("likely fix: {}\n", wrapped(printable(stop.fix), 12, 118));
  return text;
}

// Of None, which says that the claim is not served and is often a forgotten return: of every answer, or of calls that
// leave a property undecided.
std::string forgotten_return_lines(const Report& report) {
  const bool is_idle =
      !report.stop && (std::ranges::none_of(report.results, is_judged) || !is_law_judged(report.results));
  const auto is_of_none = [&](Verdict verdict) {
    return std::ranges::any_of(report.results, [&](const PropertyResult& result) {
      return result.verdict == verdict && result.reason.ends_with(" returned None");
    });
  };
  if (is_of_none(Verdict::undecided))
    return "likely fix: return the result in every branch: some calls of the claim came to None\n";
  if (!is_idle || !is_of_none(Verdict::unsupported)) return "";
  return "likely fix: return the result, if the function serves this claim: None says that it does not\n";
}

// The verdict, how far it is correct, the classes, where the error comes from; then who was asked what.
std::string head_lines(const Report& report, Colour colour) {
  const bool good = report.exit_status == 0;
  std::string text;
  for (const SummaryLine& line : summary_lines(report)) {
    // A message stays a line, to be searched for, and a command one, to be copied.
    const bool stays = report.stop || line.kind == SummaryKind::command;
    const std::string words = printable(text_of(line));
    const std::string told = stays ? words : wrapped(words, 0, 118);
    text += (text.empty() ? painted(colour, good ? "1;32" : "1;31", told) : told) + "\n";
  }
  if (report.stop) text += stop_lines(*report.stop);
  text += forgotten_return_lines(report);
  std::string called = printable(report.subject);
  for (const std::string& said : {report.subject_name, report.subject_version})
    if (!said.empty()) called += ", " + printable(said);
  constexpr std::size_t indent = 11;
  text += fmt::format("\n  subject  {}\n", called);
  text += fmt::format("  claim    {}\n", wrapped(printable(claim_text(report)), indent, 110));
  for (const std::string& note : report.claim_notes)
    text += fmt::format("{:{}}{}\n", "", indent, wrapped("note: " + printable(note), indent, 110));
  return text + fmt::format("  profile  {}, sextant {}\n\n", profile_text(report), report.sextant_version);
}

}  // namespace

std::string write_terminal(const Report& report, Colour colour, Detail detail) {
  std::string text = head_lines(report, colour);
  if (report.stop) {
    const std::string& traceback = report.stop->traceback;
    return traceback.empty() ? text : text + painted(colour, "2", indented(printable(traceback))) + "\n";
  }
  // What fails the audit, then advice.
  for (const bool aside : {false, true}) {
    for (const PropertyResult& result : report.results) {
      const bool told = result.verdict != Verdict::not_applicable && !is_unremarkable(result) && !is_failure(result);
      if (told && is_aside(report, result) == aside) text += result_lines(report, result, colour);
    }
    for (const Verdict verdict : {Verdict::crashed, Verdict::timed_out}) {
      for (const Alike& alike : groups_by_reason(report, verdict)) {
        if (is_aside(report, *alike.front()) == aside) text += failure_lines(report, alike, colour);
      }
    }
  }
  if (detail == Detail::brief) {
    text += held_lines(report, colour) + lines_by_reason(report, colour, Verdict::unsupported, "unsupported");
  } else {
    for (const PropertyResult& result : report.results) {
      if (is_unremarkable(result)) text += result_lines(report, result, colour);
    }
  }
  text += not_applicable_lines(report, colour, detail);
  for (const std::string& note : report.notes)
    text += fmt::format("  {}\n", wrapped("note: " + printable(note), 4, 110));
  if (!report.missing.empty()) {
    const std::string line = fmt::format("not judged, the run was cut short: {}", fmt::join(report.missing, ", "));
    text += painted(colour, "33", "  " + wrapped(line, 4, 110)) + "\n";
  }
  const auto is_told = [&](const PropertyResult& result) {
    return result.simplest && (detail == Detail::every_property || !is_unremarkable(result));
  };
  const auto tells = [&](bool (*is_wanted)(const PropertyResult&)) {
    return std::ranges::any_of(report.results,
                               [&](const PropertyResult& result) { return is_told(result) && is_wanted(result); });
  };
  if (tells([](const PropertyResult&) { return true; }))
    text += fmt::format("\nreplay a case: {} --replay TOKEN\n", printable(report.command));
  if (tells(needs_other_calls))
    text += fmt::format("what shows after other calls: {} --only PROPERTY\n", printable(report.command));
  return text + fmt::format("\n{}\n", painted(colour, report.exit_status == 0 ? "1;32" : "1;31", headline(report)));
}

}  // namespace sextant
