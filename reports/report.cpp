#include "reports/report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string_view>

namespace sextant {
namespace {

// ": decode: a rope has no cache", where one reason is that of all; that of those which apply, where there are any.
std::string why_nothing_ran(const Report& report) {
  if (report.results.empty())
    return report.selection.empty() ? ": no property was asked"
                                    : fmt::format(":{} leaves no property", report.selection);
  const auto applies = [](const PropertyResult& result) { return result.verdict != Verdict::not_applicable; };
  const bool any_applies = std::ranges::any_of(report.results, applies);
  const PropertyResult* first = nullptr;
  for (const PropertyResult& result : report.results) {
    if (any_applies && !applies(result)) continue;
    if (first == nullptr) first = &result;
    if (result.reason != first->reason) return "";
  }
  if (first->reason.empty()) return "";
  return fmt::format(": {}{}", report.results.size() == 1 ? first->id + ": " : "", first->reason);
}

// The line that begins so; empty if there is none, or no other.
std::string line_of(const std::string& text, const std::string& beginning) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(beginning) && line.size() < text.size()) return line;
  }
  return "";
}

std::string headline_of_results(const Report& report) {
  const std::int64_t violated = count(report, Verdict::violated);
  const std::int64_t failed = count(report, Verdict::crashed) + count(report, Verdict::timed_out);
  const std::int64_t undecided = count(report, Verdict::undecided);
  const std::int64_t held = count(report, Verdict::holds);
  const auto advice =
      std::ranges::count_if(report.results, [&](const PropertyResult& result) { return is_aside(report, result); });
  const std::string aside = advice == 0 ? "" : fmt::format("; advice not followed: {}", advice);
  if (violated + failed + undecided + held == 0)
    return advice == 0 ? "nothing applicable ran" + why_nothing_ran(report)
                       : fmt::format("advice not followed: {}", advice);
  if (violated + failed + undecided == 0) {
    if (!is_law_judged(report.results))
      return fmt::format("no law was judged; {} other {}{}", held, held == 1 ? "property holds" : "properties hold",
                         aside);
    return held == 1 ? "the one applicable property holds" + aside
                     : fmt::format("all {} applicable properties hold{}", held, aside);
  }
  std::vector<std::string> parts;
  if (violated > 0) parts.push_back(fmt::format("{} {} violated", violated, violated == 1 ? "property" : "properties"));
  if (failed > 0)
    parts.push_back(fmt::format("the subject failed in {} {}", failed, failed == 1 ? "property" : "properties"));
  if (undecided > 0) parts.push_back(fmt::format("{} undecided", undecided));
  parts.push_back(fmt::format("{} held", held));
  return fmt::format("{}{}", fmt::join(parts, ", "), aside);
}

}  // namespace

std::string claim_text(const Report& report) {
  return fmt::format("{}, {}, positions {} to {}", report.spec_text, report.claim,
                     report.grid.text(report.first_position), report.grid.text(report.last_position));
}

std::string statement_of(const Report& report, const PropertyResult& result) {
  const auto spec = nlohmann::json::parse(report.spec_json, nullptr, false);
  const std::string encoding = spec.is_object() ? spec.value("encoding", "") : "";
  const std::string own = line_of(result.statement, encoding + ": ");
  if (own.empty()) return result.statement;
  constexpr std::string_view as = "as ";
  const std::string_view said = std::string_view(own).substr(encoding.size() + 2);
  if (!said.starts_with(as)) return own;
  const std::string base =
      line_of(result.statement, std::string(said.substr(0, said.find(' ', as.size())).substr(as.size())) + ": ");
  return base.empty() ? own : base + "\n" + own;
}

std::int64_t count(const Report& report, Verdict verdict) {
  return std::count_if(report.results.begin(), report.results.end(), [&](const PropertyResult& result) {
    return result.verdict == verdict && !is_aside(report, result);
  });
}

bool is_aside(const Report& report, const PropertyResult& result) {
  return result.level == Level::advice && report.strictness == Strictness::lenient &&
         result.verdict != Verdict::holds && result.verdict != Verdict::not_applicable &&
         result.verdict != Verdict::unsupported;
}

int exit_status(const Report& report) {
  const int status = exit_status(report.results, report.strictness);
  if (!report.missing.empty()) return status == 0 ? 4 : status;
  const bool is_idle_shard =
      report.shard && status == 4 && std::ranges::none_of(report.results, [](const PropertyResult& result) {
        return result.verdict == Verdict::undecided;
      });
  return is_idle_shard ? 0 : status;
}

std::string headline(const Report& report) {
  const std::string of_shard =
      report.shard ? fmt::format("shard {} of {}: ", report.shard->index, report.shard->count) : "";
  if (report.stop) return of_shard + "the subject cannot be audited: " + report.stop->reason;
  if (report.missing.empty()) return of_shard + headline_of_results(report);
  return fmt::format("{}partial, {} of {} properties not judged; of the others: {}", of_shard, report.missing.size(),
                     report.results.size() + report.missing.size(), headline_of_results(report));
}

std::string place_text(const CodePlace& place) {
  return place.line > 0 ? fmt::format("{}, line {}", place.file, place.line) : place.file;
}

std::string amount_text(const AskedAmount& amount) {
  std::vector<std::string> parts;
  if (amount.values) parts.push_back(fmt::format("{} values a sweep", *amount.values));
  if (amount.cases)
    parts.push_back(fmt::format("{} first and {} drawn cases a property", *amount.cases, *amount.cases));
  if (amount.largest_call) parts.push_back(fmt::format("{} tokens x rows x heads a case", *amount.largest_call));
  if (parts.empty()) return "";
  const std::string numbers = fmt::format("at most {}", fmt::join(parts, ", "));
  return amount.budget ? fmt::format("asked within {:g} s: {}", *amount.budget, numbers) : numbers;
}

std::string profile_text(const Report& report) {
  const std::string amount = amount_text(report.amount);
  return fmt::format("{}, seed {}{}{}", report.profile, report.seed, amount.empty() ? "" : ", ", amount);
}

std::string cases_text(std::int64_t cases) { return fmt::format("{} case{}", cases, cases == 1 ? "" : "s"); }

bool is_judged(const PropertyResult& result) {
  return result.verdict == Verdict::holds || result.verdict == Verdict::violated;
}

std::optional<std::string> coverage_text(const PropertyResult& result) {
  if (!is_judged(result) || !result.coverage) return std::nullopt;
  const Coverage& coverage = *result.coverage;
  if (coverage.values == 0) return fmt::format("none of {} {}: drawn cases alone", coverage.claimed, coverage.of);
  return fmt::format("{} of {} {}, {} values, all compared", coverage.positions, coverage.claimed, coverage.of,
                     coverage.values);
}

bool needs_other_calls(const PropertyResult& result) {
  return result.simplest && result.simplest->shown == Shown::after_other_calls;
}

std::string replay_command(const Report& report, const PropertyResult& result, const Example& example) {
  if (!needs_other_calls(result)) return fmt::format("{} --replay {}", report.command, example.token);
  return fmt::format("{} --only {}", report.command, result.id);
}

std::string whole_command(const Report& report) {
  const std::string part = report.shard ? fmt::format(" --shard {}/{}", report.shard->index, report.shard->count) : "";
  return report.command + report.selection + part;
}

std::optional<std::string> diagnosis_text(const Report& report) {
  if (!report.diagnosis) return std::nullopt;
  std::vector<std::string> parts{words_of(*report.diagnosis)};
  if (const std::string remedy = remedy_of(*report.diagnosis); !remedy.empty()) parts.push_back(remedy);
  if (!report.diagnosis->command.empty()) parts.push_back("audit it: " + report.diagnosis->command);
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::optional<std::string> diagnosis_of(const Report& report, const PropertyResult& result) {
  const bool is_caused = result.verdict == Verdict::violated && !is_aside(report, result);
  return is_caused ? diagnosis_text(report) : std::nullopt;
}

}  // namespace sextant
