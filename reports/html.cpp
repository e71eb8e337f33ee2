#include "reports/html.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <kainjow/mustache.hpp>
#include <sstream>
#include <string>

#include "properties/verdict/bound_text.hpp"
#include "reports/base64.hpp"
#include "reports/html_templates.hpp"
#include "reports/pictures.hpp"
#include "reports/summary.hpp"
#include "reports/text.hpp"
#include "reports/tiles.hpp"

namespace sextant {
namespace {

using kainjow::mustache::data;
using kainjow::mustache::mustache;
using List = kainjow::mustache::list;

std::string rendered(std::string_view text, data& values) {
  mustache page{std::string(text)};
  return page.render(values);
}

data fact(const std::string& name, const std::string& value) {
  data one;
  one.set("name", name);
  one.set("value", printable(value));
  return one;
}

// The words of a command, each of which stays whole where a line has room for it.
data words_of_command(const std::string& command) {
  List words;
  std::istringstream stream(printable(command));
  for (std::string word; std::getline(stream, word, ' ');) words.push_back(data("word", word));
  return data(words);
}

// A number that would stand on a line of its own stays with the word before it.
std::string with_last_word_kept(std::string text) {
  if (const std::size_t space = text.rfind(' '); space != std::string::npos) text.replace(space, 1, "\u00a0");
  return text;
}

bool is_bad(Verdict verdict) {
  return verdict == Verdict::violated || verdict == Verdict::crashed || verdict == Verdict::timed_out;
}

std::string verdict_word(const Report& report, const PropertyResult& result) {
  if (is_aside(report, result)) return "advice not followed";
  if (result.theory == Theory::fails && result.verdict == Verdict::holds) return "absent, as theory says";
  std::string word(name_of(result.verdict));
  std::ranges::replace(word, '_', ' ');
  return word;
}

constexpr const char* only_after_other_calls =
    "This case alone, with --replay, will hold. Run the audit of the property again:";

data example_data(const Report& report, const PropertyResult& result, const char* label, const Example& example,
                  bool open) {
  data one;
  one.set("label", label);
  one.set("finding", printable(example.finding));
  if (needs_other_calls(result)) one.set("not_alone", only_after_other_calls);
  one.set("replay", words_of_command(replay_command(report, result, example)));
  one.set("open", open);
  return one;
}

// Cases of other properties differ in more than their position, which says little of how far those hold.
bool tells_horizon(const PropertyResult& result) {
  return result.horizon && (result.id == "accuracy" || (result.coverage && result.coverage->values > 0));
}

data result_data(const Report& report, const PropertyResult& result) {
  data one;
  one.set("id", result.id);
  one.set("title", printable(result.title));
  one.set("class", is_aside(report, result) ? "advice" : std::string(name_of(result.verdict)));
  one.set("verdict", verdict_word(report, result));
  const bool judged = is_judged(result);
  one.set("worst", judged && result.worst ? bound_text(result.worst->deviation.of_bound) : "");
  const bool has_horizon = tells_horizon(result) && result.verdict == Verdict::violated &&
                           *result.horizon >= report.first_position && !needs_other_calls(result);
  const char* alone = has_horizon && *result.horizon == report.first_position ? " alone" : "";
  one.set("horizon", has_horizon ? fmt::format("position {}{}", report.grid.text(*result.horizon), alone) : "");
  // Where the page is narrow the table has no head.
  if (judged && result.worst) one.set("worst_label", "Worst");
  if (has_horizon) one.set("horizon_label", "Holds up to");
  if (!result.reason.empty()) one.set("reason", printable(result.reason));
  // What failed at once was asked no case that tells anything.
  const bool tells_cases = judged || result.cases > 0;
  one.set("cases", tells_cases ? cases_text(result.cases) + "; what the property states" : "What the property states");
  if (const auto coverage = coverage_text(result)) one.set("coverage", "swept: " + *coverage);
  one.set("statement", printable(statement_of(report, result)));
  List examples;
  if (result.simplest)
    examples.push_back(example_data(report, result, result.verdict == Verdict::violated ? "simplest" : "case",
                                    *result.simplest, false));
  if (result.verdict == Verdict::violated && result.worst &&
      (!result.simplest || result.worst->token != result.simplest->token)) {
    examples.push_back(example_data(report, result, "worst", *result.worst, false));
  }
  one.set("examples", data(examples));
  return one;
}

bool names_vector(const PropertyResult& result) {
  const auto names = [](const std::optional<Example>& example) {
    return example && example->finding.find("vector ") != std::string::npos;
  };
  return names(result.simplest) || (result.verdict == Verdict::violated && names(result.worst));
}

// What a counterexample shows, in a sentence where its finding has the parts of one value's, else the finding itself.
std::string narrative_of(const std::string& finding) {
  // "position 257, channel 1: got A (HEX), true value B, error C = D ULP, E"
  const std::size_t got = finding.find(": got ");
  const std::size_t hex = finding.find(" (", got == std::string::npos ? 0 : got);
  const std::size_t truth = finding.find(", true value ");
  const std::size_t error = finding.find(", error ");
  const bool has_parts = got != std::string::npos && hex != std::string::npos && truth != std::string::npos &&
                         error != std::string::npos && got < hex && hex < truth && truth < error;
  if (!has_parts) return finding;
  constexpr std::size_t got_length = 6;
  constexpr std::size_t truth_length = 13;
  constexpr std::size_t error_length = 8;
  return fmt::format("At {} it gives {} where the true value is {}: an error of {}", finding.substr(0, got),
                     finding.substr(got + got_length, hex - got - got_length),
                     finding.substr(truth + truth_length, error - truth - truth_length),
                     finding.substr(error + error_length));
}

data wrong_data(const Report& report, const PropertyResult& result) {
  data wrong;
  wrong.set("id", result.id);
  wrong.set("title", fmt::format("“{}”", printable(capitalized(result.title))));
  // Of a failure the reason tells its kind and where it was.
  if (result.verdict == Verdict::violated)
    wrong.set("finding",
              printable(result.simplest ? capitalized(narrative_of(result.simplest->finding)) : result.reason));
  else
    wrong.set("failure", printable(result.reason));
  if (!is_decided_by_other_calls(report) && tells_horizon(result) && *result.horizon >= report.first_position) {
    const std::string horizon = report.grid.text(*result.horizon);
    wrong.set("horizon", *result.horizon == report.first_position ? fmt::format("At position {} alone", horizon)
                                                                  : fmt::format("Up to position {}", horizon));
  }
  if (const std::string stage = stage_text(report); !stage.empty() && result.verdict == Verdict::violated)
    wrong.set("stage", stage);
  if (needs_other_calls(result)) wrong.set("not_alone", only_after_other_calls);
  wrong.set("replay", words_of_command(result.simplest ? replay_command(report, result, *result.simplest)
                                                       : whole_command(report)));
  return wrong;
}

data stop_data(const Stop& stop) {
  data told;
  if (!stop.place.file.empty()) told.set("place", printable(place_text(stop.place)));
  if (!stop.fix.empty()) told.set("fix", printable(stop.fix));
  if (!stop.traceback.empty()) told.set("traceback", printable(stop.traceback));
  return told;
}

}  // namespace

std::string_view html_class_of(const Report& report) {
  return report.exit_status == 0 ? "holds" : report.exit_status == 4 ? "undecided" : "violated";
}

std::string write_html(const Report& report) {
  data page;
  page.set("style", std::string(html_style));
  page.set("version", report.sextant_version);
  const std::string title = capitalized(headline(report));
  page.set("title", title);
  page.set("headline", with_last_word_kept(title));
  page.set("status", std::string(html_class_of(report)));
  List summary;
  for (const SummaryLine& line : summary_lines(report)) {
    if (line.kind == SummaryKind::command) {
      data command;
      command.set("words", words_of_command(line.text));
      summary.push_back(data("audit_it", command));
    } else {
      summary.push_back(data("line", printable(sentence(line.text))));
    }
  }
  summary.erase(summary.begin());
  page.set("summary", data(summary));
  if (const std::string correct = correctness_text(report); !correct.empty()) page.set("correct", sentence(correct));
  page.set("subject", printable(report.subject));
  std::string called = report.subject_name == report.subject ? std::string() : printable(report.subject_name);
  if (!report.subject_version.empty()) called += (called.empty() ? "" : " ") + printable(report.subject_version);
  if (!called.empty()) page.set("called", called);
  page.set("claim", printable(claim_text(report)));
  List claim_notes;
  for (const std::string& note : report.claim_notes) claim_notes.push_back(data("note", printable(note)));
  page.set("claim_notes", data(claim_notes));
  if (!report.missing.empty()) page.set("missing", printable(fmt::format("{}", fmt::join(report.missing, ", "))));
  if (report.stop) {
    page.set("stop", stop_data(*report.stop));
  } else if (const PropertyResult* result = first_wrong(report)) {
    page.set("wrong", wrong_data(report, *result));
  }
  List facts;
  for (const Tile& tile : tiles_of(report)) {
    data one = fact(tile.name, tile.value);
    one.set("meaning", tile.meaning);
    facts.push_back(one);
  }
  page.set("facts", data(facts));
  page.set("has_results", !report.stop);
  // What is wrong first, then what holds, then what the subject has not; the order of the catalogue within.
  std::vector<const PropertyResult*> order;
  std::vector<std::string> silent;
  for (const PropertyResult& result : report.results) {
    if (result.verdict == Verdict::not_applicable) {
      silent.push_back(result.id);
    } else {
      order.push_back(&result);
    }
  }
  std::ranges::stable_sort(order, {}, [&](const PropertyResult* result) {
    if (is_aside(report, *result)) return 1;
    if (is_bad(result->verdict)) return 0;
    return result->verdict == Verdict::holds ? 3 : result->verdict == Verdict::unsupported ? 4 : 2;
  });
  List results;
  for (const PropertyResult* result : order) results.push_back(result_data(report, *result));
  page.set("results", data(results));
  if (std::ranges::any_of(order, [](const PropertyResult* result) { return names_vector(*result); }))
    page.set("vectors",
             "A vector’s number counts all vectors of its call from 0: by batch row, then token, then head. In a "
             "command a number beyond what its call has is counted round.");
  if (!silent.empty()) page.set("silent", fmt::format("{}", fmt::join(silent, ", ")));
  List pictures;
  for (const Picture& picture : pictures_of(report)) {
    data one;
    one.set("title", picture.title);
    one.set("caption", picture.caption);
    one.set("svg", picture.svg);
    one.set("file", picture.file);
    one.set("data", base64(picture.csv));
    pictures.push_back(one);
  }
  page.set("has_pictures", !pictures.empty());
  page.set("pictures", data(pictures));
  List environment;
  environment.push_back(fact("Profile", report.profile));
  environment.push_back(fact("Seed", std::to_string(report.seed)));
  for (const std::string& note : report.notes) environment.push_back(fact("Note", note));
  if (const std::string amount = amount_text(report.amount); !amount.empty())
    environment.push_back(fact("Asked", amount));
  for (const auto& [name, value] : report.environment)
    environment.push_back(fact(name == "mpfr" ? "MPFR" : capitalized(name), value));
  page.set("environment", data(environment));
  page.set("spec_json", printable(report.spec_json));
  page.set("command", words_of_command(whole_command(report)));
  return rendered(html_page, page);
}

}  // namespace sextant
