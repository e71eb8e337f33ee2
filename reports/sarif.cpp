#include "reports/sarif.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "reports/text.hpp"

namespace sextant {
namespace {

using nlohmann::ordered_json;

// A file that the results can be attached to: what stands after the colon of a subject's name, "python:a.py", but for
// the kinds whose names hold no path; else the name as it is.
std::string artifact_of(const Report& report) {
  if (report.stop && !report.stop->place.file.empty()) return report.stop->place.file;
  if (!report.source.file.empty()) return report.source.file;
  for (const std::string_view kind : {"exec:", "mutant:", "recipe:"}) {
    if (report.subject.starts_with(kind)) return report.subject;
  }
  return report.subject.substr(report.subject.find(':') + 1);
}

// The line of the failure, else that of the function, where the subject says it.
std::int64_t line_of(const Report& report) {
  const std::int64_t line =
      report.stop && !report.stop->place.file.empty() ? report.stop->place.line : report.source.line;
  return std::max<std::int64_t>(line, 1);
}

ordered_json location_of(const Report& report) {
  return {
      {"physicalLocation",
       {{"artifactLocation", {{"uri", uri_of(artifact_of(report))}}}, {"region", {{"startLine", line_of(report)}}}}}};
}

ordered_json fingerprint_of(const Report& report, std::string_view rule) {
  return {{"sextantProperty/v1", fmt::format("{}:{}:{}", printable(report.subject), rule, report.spec_text)}};
}

bool is_told(const PropertyResult& result) {
  return result.verdict == Verdict::violated || result.verdict == Verdict::crashed ||
         result.verdict == Verdict::timed_out || result.verdict == Verdict::undecided;
}

const char* level_of(const Report& report, const PropertyResult& result) {
  if (is_aside(report, result)) return "note";
  return result.verdict == Verdict::undecided ? "warning" : "error";
}

std::string message_of(const Report& report, const PropertyResult& result) {
  std::string text = fmt::format("{}: {}.", name_of(result.verdict), result.title);
  if (!result.reason.empty()) text += fmt::format(" {}.", result.reason);
  if (const auto diagnosis = diagnosis_of(report, result)) text += fmt::format("\nCause: {}", *diagnosis);
  const auto add = [&](std::string_view label, const std::optional<Example>& example) {
    if (example)
      text += fmt::format("\n{}: {}\n  {}", label, example->finding, replay_command(report, result, *example));
  };
  add("simplest", result.simplest);
  if (!result.simplest || !result.worst || result.worst->token != result.simplest->token) add("worst", result.worst);
  return printable(text);
}

ordered_json rule_json(const PropertyResult& result) {
  const std::string help =
      fmt::format("{}\n\n    {}\n\nsextant explain {} tells its source and how its bound is derived.", result.title,
                  result.statement, result.id);
  return {{"id", result.id},
          {"name", result.id},
          {"shortDescription", {{"text", result.title}}},
          {"fullDescription", {{"text", fmt::format("{}: {}", result.title, result.statement)}}},
          {"help", {{"text", help}, {"markdown", help}}},
          {"defaultConfiguration", {{"level", result.level == Level::advice ? "note" : "error"}}},
          {"properties", {{"level", name_of(result.level)}}}};
}

// That nothing could be judged is one finding, not one of each property.
ordered_json stop_json(const Report& report, std::size_t rule_index) {
  const Stop& stop = *report.stop;
  std::string text = fmt::format("The subject cannot be audited: {}.", stop.reason);
  if (!stop.fix.empty()) text += fmt::format(" Likely fix: {}.", stop.fix);
  if (!stop.traceback.empty()) text += "\n" + stop.traceback;
  return {{"ruleId", "preflight"},
          {"ruleIndex", rule_index},
          {"level", "error"},
          {"message", {{"text", printable(text)}}},
          {"locations", ordered_json::array({location_of(report)})},
          {"partialFingerprints", fingerprint_of(report, "preflight")}};
}

ordered_json preflight_rule() {
  const char* text = "the subject describes itself and answers its first calls";
  return {{"id", "preflight"}, {"name", "preflight"}, {"shortDescription", {{"text", text}}}};
}

}  // namespace

std::string write_sarif(const Report& report) {
  auto rules = ordered_json::array();
  auto results = ordered_json::array();
  if (report.stop) {
    rules.push_back(preflight_rule());
    results.push_back(stop_json(report, 0));
  }
  for (const PropertyResult& result : report.results) {
    const std::size_t index = rules.size();
    rules.push_back(rule_json(result));
    if (report.stop || !is_told(result)) continue;
    ordered_json one{{"ruleId", result.id},
                     {"ruleIndex", index},
                     {"level", level_of(report, result)},
                     {"message", {{"text", message_of(report, result)}}},
                     {"locations", ordered_json::array({location_of(report)})},
                     {"partialFingerprints", fingerprint_of(report, result.id)}};
    if (result.horizon) one["properties"] = {{"horizon", *result.horizon}};
    results.push_back(std::move(one));
  }
  ordered_json driver{{"name", "Sextant"},
                      {"version", report.sextant_version},
                      {"semanticVersion", report.sextant_version},
                      {"rules", std::move(rules)}};
  ordered_json invocation{{"executionSuccessful", report.exit_status <= 1 && report.missing.empty()},
                          {"exitCode", report.exit_status},
                          {"commandLine", printable(whole_command(report))}};
  if (!report.missing.empty()) {
    const std::string text = fmt::format("The run was cut short; not judged: {}.", fmt::join(report.missing, ", "));
    invocation["toolExecutionNotifications"] =
        ordered_json::array({{{"level", "error"}, {"message", {{"text", printable(text)}}}}});
  }
  ordered_json run{
      {"tool", {{"driver", std::move(driver)}}},
      {"invocations", ordered_json::array({std::move(invocation)})},
      {"results", std::move(results)},
      {"columnKind", "utf16CodeUnits"},
      {"properties",
       {{"headline", headline(report)}, {"spec", ordered_json::parse(report.spec_json)}, {"seed", report.seed}}}};
  if (const auto diagnosis = diagnosis_text(report)) run["properties"]["diagnosis"] = printable(*diagnosis);
  const ordered_json log{{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                         {"version", "2.1.0"},
                         {"runs", ordered_json::array({std::move(run)})}};
  return log.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace sextant
