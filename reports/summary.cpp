#include "reports/summary.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace sextant {
namespace {

// Null where it was not asked, or says nothing of the claim.
const PropertyResult* asked_accuracy(const Report& report) {
  const auto found = std::ranges::find(report.results, "accuracy", &PropertyResult::id);
  return found == report.results.end() || found->verdict == Verdict::not_applicable ? nullptr : &*found;
}

const PropertyResult* accuracy_in(const Report& report) {
  const PropertyResult* asked = asked_accuracy(report);
  return asked != nullptr && is_judged(*asked) ? asked : nullptr;
}

bool is_violated(const Report& report, const PropertyResult& result) {
  return result.verdict == Verdict::violated && !is_aside(report, result);
}

bool has_violations(const Report& report) { return count(report, Verdict::violated) > 0; }

const PropertyResult* first_undecided(const Report& report) {
  const auto found = std::ranges::find_if(report.results, [&](const PropertyResult& result) {
    return result.verdict == Verdict::undecided && !is_aside(report, result);
  });
  return found == report.results.end() ? nullptr : &*found;
}

std::optional<std::int64_t> least_horizon(const Report& report) {
  std::optional<std::int64_t> least;
  for (const PropertyResult& result : report.results) {
    if (is_violated(report, result) && result.horizon)
      least = least ? std::min(*least, *result.horizon) : result.horizon;
  }
  return least;
}

// Of advice that alone fails a strict audit: what it says, and what mends it. A cause that is known names the fields.
std::string failed_advice_text(const Report& report) {
  if (report.profile == "replay") return "";
  std::vector<const PropertyResult*> failed;
  for (const PropertyResult& result : report.results) {
    if (!is_violated(report, result)) continue;
    if (result.level != Level::advice) return "";
    if (!report.diagnosis || result.id != "parameter_liveness") failed.push_back(&result);
  }
  if (failed.empty()) return "";
  std::vector<std::string> parts{fmt::format("advice not followed: {}: {}", failed[0]->id, failed[0]->title)};
  if (!failed[0]->reason.empty()) parts.push_back(failed[0]->reason);
  std::vector<std::string> others;
  for (std::size_t i = 1; i < failed.size(); ++i) others.push_back(failed[i]->id);
  if (!others.empty()) parts.push_back(fmt::format("nor {}", fmt::join(others, ", ")));
  return fmt::format("{}", fmt::join(parts, "; "));
}

bool has_measured_class(const Report& report) { return report.survey && report.survey->errors; }

// Whether something is violated or failed, and not what accuracy asks: its class and its errors are not the cause.
bool is_of_other_cause(const Report& report) {
  const PropertyResult* accuracy = accuracy_in(report);
  return accuracy != nullptr && accuracy->verdict == Verdict::holds && first_wrong(report) != nullptr;
}

}  // namespace

bool is_wrong_elsewhere(const Report& report) {
  const PropertyResult* accuracy = accuracy_in(report);
  return accuracy != nullptr && accuracy->verdict == Verdict::violated && report.survey &&
         report.survey->horizon == report.last_position;
}

bool is_decided_by_other_calls(const Report& report) {
  const PropertyResult* accuracy = accuracy_in(report);
  return accuracy != nullptr && accuracy->verdict == Verdict::violated && needs_other_calls(*accuracy);
}

std::optional<std::int64_t> horizon_of(const Report& report) {
  const auto claimed = [&](const std::optional<std::int64_t>& horizon) {
    return horizon && *horizon >= report.first_position ? horizon : std::nullopt;
  };
  const PropertyResult* accuracy = accuracy_in(report);
  if (accuracy != nullptr && accuracy->verdict == Verdict::violated)
    return is_decided_by_other_calls(report) ? std::nullopt : claimed(accuracy->horizon);
  if (accuracy == nullptr && has_violations(report)) return claimed(least_horizon(report));
  return report.survey ? report.survey->horizon : std::nullopt;
}

std::string correctness_text(const Report& report) {
  // A replay is of one case, which says nothing of other positions.
  if (report.stop || report.profile == "replay") return "";
  const PropertyResult* accuracy = accuracy_in(report);
  const std::string last = report.grid.text(report.last_position);
  const std::string all = fmt::format("positions {} to {}", report.grid.text(report.first_position), last);
  if (accuracy != nullptr && accuracy->verdict == Verdict::holds) {
    const std::optional<Coverage>& swept = accuracy->coverage;
    // Other properties may have seen wrong values in calls that accuracy did not ask.
    if (has_violations(report)) return fmt::format("accuracy holds, {}", all);
    if (!swept || swept->values == 0) return fmt::format("every value asked is correct, {}", all);
    if (swept->positions == swept->claimed) return fmt::format("every value is correct, {}", all);
    return fmt::format("every value asked is correct, {} ({} of {} whole)", all, swept->positions, swept->claimed);
  }
  // Where accuracy was asked and came to nothing, what else holds says little of values.
  if (accuracy == nullptr && asked_accuracy(report) != nullptr && !has_violations(report)) return "";
  if (accuracy == nullptr && !has_violations(report))
    return count(report, Verdict::holds) > 0 ? fmt::format("nothing wrong was seen, {}", all) : "";
  // What other calls decide has no position up to which it is right.
  if (is_decided_by_other_calls(report)) return "";
  // Of violations without a position nothing is known but that they are there.
  if (accuracy == nullptr && !least_horizon(report)) return "";
  const std::optional<std::int64_t> horizon = horizon_of(report);
  // "Correct up to position 0" would read as if something were.
  if (!horizon) return fmt::format("wrong from position {} on", report.grid.text(report.first_position));
  if (*horizon == report.first_position)
    return fmt::format("wrong from position {} on, right at {} alone", report.grid.text(*horizon + 1),
                       report.grid.text(*horizon));
  return fmt::format("correct up to position {} of {}", report.grid.text(*horizon), last);
}

std::string measured_class_text(const Report& report) {
  if (!has_measured_class(report)) return "";
  const Survey& survey = *report.survey;
  if (survey.measured_class.empty()) return "none";
  return survey.measured_class + (is_wrong_elsewhere(report) ? ", by calls that do not show the failure" : "");
}

std::string stage_text(const Report& report) {
  if (!report.survey || report.survey->stage.empty() || is_wrong_elsewhere(report) || is_of_other_cause(report))
    return "";
  const Survey& survey = *report.survey;
  // Of values that are as near as can be nothing is wrong, and the last rounding is no cause.
  if (survey.measured_class == "correctly-rounded") return "";
  if (report.diagnosis && contradicts(*report.diagnosis, survey.stage)) return "";
  std::string text = survey.stage == "rounding" ? survey.stage : "the " + survey.stage;
  if (survey.stage == "angle" && survey.angle_bits)
    text += *survey.angle_bits < 0.05 ? ", of which no bit is right"
                                      : fmt::format(", of which {:.1f} bits are right", *survey.angle_bits);
  if (survey.stage_evidence == "growth") text += ", told by how it grows";
  return text;
}

std::vector<SummaryLine> summary_lines(const Report& report) {
  std::vector<std::string> first{headline(report)};
  if (const std::string correct = correctness_text(report); !correct.empty()) first.push_back(correct);
  std::vector<std::string> last;
  // That a violated claim's answers meet no class at all is what the first line says.
  const bool is_said = report.survey && report.survey->measured_class.empty() && has_violations(report);
  if (const std::string measured = measured_class_text(report);
      !measured.empty() && !is_said && !is_wrong_elsewhere(report) && !is_of_other_cause(report))
    last.push_back(fmt::format("claimed {}, measured {}", report.claim, measured));
  const PropertyResult* accuracy = accuracy_in(report);
  const bool holds = accuracy != nullptr && accuracy->verdict == Verdict::holds;
  if (const std::string stage = stage_text(report); !stage.empty())
    last.push_back(fmt::format("{} from {}", holds ? "what error there is comes" : "the error comes", stage));
  std::vector<SummaryLine> lines;
  const auto add = [&](SummaryKind kind, const std::string& text) {
    if (!text.empty()) lines.push_back({kind, text});
  };
  add(SummaryKind::sentence, fmt::format("{}", fmt::join(first, "; ")));
  // Of claims that nothing violates the first failure is the cause: at which call, and of what; else what is undecided.
  const PropertyResult* failed = report.stop || has_violations(report) ? nullptr : first_wrong(report);
  if (failed == nullptr && !report.stop && !has_violations(report)) failed = first_undecided(report);
  if (failed != nullptr && !failed->reason.empty())
    add(SummaryKind::sentence, fmt::format("{}: {}", failed->id, failed->reason));
  add(SummaryKind::sentence, failed_advice_text(report));
  if (report.diagnosis) {
    add(SummaryKind::sentence, words_of(*report.diagnosis));
    add(SummaryKind::sentence, remedy_of(*report.diagnosis));
    add(SummaryKind::command, report.diagnosis->command);
  }
  add(SummaryKind::sentence, fmt::format("{}", fmt::join(last, "; ")));
  return lines;
}

std::string text_of(const SummaryLine& line) {
  return line.kind == SummaryKind::command ? "audit it: " + line.text : line.text;
}

std::string summary_line(const Report& report) {
  std::string joined;
  for (const SummaryLine& line : summary_lines(report)) joined += (joined.empty() ? "" : "; ") + text_of(line);
  return joined;
}

const PropertyResult* first_wrong(const Report& report) {
  const auto first = [&](auto is_wanted) -> const PropertyResult* {
    for (const PropertyResult& result : report.results) {
      if (is_wanted(result) && !is_aside(report, result)) return &result;
    }
    return nullptr;
  };
  const auto of = [](Verdict verdict) {
    return [verdict](const PropertyResult& result) { return result.verdict == verdict; };
  };
  const PropertyResult* alone = first(
      [](const PropertyResult& result) { return result.verdict == Verdict::violated && !needs_other_calls(result); });
  for (const PropertyResult* result :
       {alone, first(of(Verdict::violated)), first(of(Verdict::crashed)), first(of(Verdict::timed_out))}) {
    if (result != nullptr) return result;
  }
  return nullptr;
}

}  // namespace sextant
