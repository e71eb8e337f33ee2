#include "reports/grade.hpp"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>

namespace sextant {
namespace {

using nlohmann::ordered_json;

bool has_failed(const PropertyResult& result) {
  return result.verdict == Verdict::crashed || result.verdict == Verdict::timed_out;
}

const PropertyResult* first_of(const Report& report, bool (*is_looked_for)(const PropertyResult&)) {
  const auto found = std::ranges::find_if(
      report.results, [&](const PropertyResult& result) { return is_looked_for(result) && !is_aside(report, result); });
  return found == report.results.end() ? nullptr : &*found;
}

// The word for the exit status: of several verdicts that give the same, the one that says most.
std::string_view verdict_of(const Report& report) {
  switch (report.exit_status) {
    case 0: return name_of(Verdict::holds);
    case 1: return name_of(Verdict::violated);
    case 3: return name_of(first_of(report, has_failed)->verdict);
    default: break;
  }
  if (count(report, Verdict::undecided) > 0) return name_of(Verdict::undecided);
  return name_of(count(report, Verdict::unsupported) > 0 ? Verdict::unsupported : Verdict::not_applicable);
}

// Of "accuracy:position=257,rows=1" 257: where the call of the case begins. Nothing of a case without one position.
std::optional<std::int64_t> position_in(const std::string& token) {
  for (const std::string_view name : {":position=", ",position="}) {
    const auto at = token.find(name);
    if (at == std::string::npos) continue;
    std::int64_t position = 0;
    const char* const first = token.data() + at + name.size();
    if (std::from_chars(first, token.data() + token.size(), position).ec == std::errc()) return position;
  }
  return std::nullopt;
}

// A position as subjects get it: a whole number unless positions are real.
ordered_json position_json(const Report& report, std::optional<std::int64_t> position) {
  if (!position) return nullptr;
  return report.grid.dtype == Dtype::int64 ? ordered_json(*position) : ordered_json(report.grid.at(*position));
}

// A witness of what an encoding lacks is beyond its bound, as it has to be.
bool must_be_within(const Report& report, const PropertyResult& result) {
  return is_judged(result) && result.worst && !is_aside(report, result) &&
         !(result.theory == Theory::fails && result.verdict == Verdict::holds);
}

ordered_json worst_json(const Report& report) {
  const PropertyResult* worst = nullptr;
  for (const PropertyResult& result : report.results) {
    if (!must_be_within(report, result)) continue;
    if (worst == nullptr || result.worst->deviation.of_bound > worst->worst->deviation.of_bound) worst = &result;
  }
  if (worst == nullptr) return nullptr;
  return {{"property", worst->id},
          {"of_bound", worst->worst->deviation.of_bound},
          {"ulps", worst->worst->deviation.ulps},
          {"position", position_json(report, position_in(worst->worst->token))}};
}

ordered_json horizon_json(const Report& report) {
  std::optional<std::int64_t> least;
  for (const PropertyResult& result : report.results) {
    if (!result.horizon || result.verdict != Verdict::violated || is_aside(report, result)) continue;
    least = least ? std::min(*least, *result.horizon) : *result.horizon;
  }
  return position_json(report, least);
}

ordered_json counts_json(const Report& report) {
  const auto advice =
      std::ranges::count_if(report.results, [&](const PropertyResult& result) { return is_aside(report, result); });
  return {{"held", count(report, Verdict::holds)},
          {"violated", count(report, Verdict::violated)},
          {"failed", count(report, Verdict::crashed) + count(report, Verdict::timed_out)},
          {"undecided", count(report, Verdict::undecided)},
          {"unsupported", count(report, Verdict::unsupported)},
          {"not_applicable", count(report, Verdict::not_applicable)},
          {"advice_not_followed", advice}};
}

ordered_json first_violation_json(const Report& report) {
  const PropertyResult* first =
      first_of(report, [](const PropertyResult& result) { return result.verdict == Verdict::violated; });
  if (first == nullptr || !first->simplest) return nullptr;
  return {{"property", first->id},
          {"finding", first->simplest->finding},
          {"replay", replay_command(report, *first, *first->simplest)}};
}

ordered_json first_failure_json(const Report& report) {
  const PropertyResult* first = first_of(report, has_failed);
  if (first == nullptr) return nullptr;
  ordered_json json{{"property", first->id}, {"reason", first->reason}, {"replay", nullptr}};
  if (first->simplest) json["replay"] = replay_command(report, *first, *first->simplest);
  return json;
}

ordered_json first_undecided_json(const Report& report) {
  const PropertyResult* first =
      first_of(report, [](const PropertyResult& result) { return result.verdict == Verdict::undecided; });
  if (first == nullptr) return nullptr;
  return {{"property", first->id}, {"reason", first->reason}};
}

// What a subject says need not be UTF-8.
std::string line_of(const ordered_json& json) {
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string write_grade(const Report& report) {
  return line_of({{"verdict", verdict_of(report)},
                  {"exit", report.exit_status},
                  {"subject", report.subject},
                  {"claim", claim_text(report)},
                  {"properties", counts_json(report)},
                  {"worst", worst_json(report)},
                  {"horizon", horizon_json(report)},
                  {"first_violation", first_violation_json(report)},
                  {"first_failure", first_failure_json(report)},
                  {"first_undecided", first_undecided_json(report)},
                  {"seconds", report.seconds}});
}

std::string write_grade_of_error(std::string_view message, int exit_status) {
  return line_of({{"verdict", "error"}, {"exit", exit_status}, {"error", message}});
}

}  // namespace sextant
