#include "reports/json.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "reports/deviation_json.hpp"
#include "reports/diagnosis_json.hpp"
#include "reports/summary.hpp"
#include "reports/survey_json.hpp"
#include "reports/tally_json.hpp"

namespace sextant {
namespace {

using nlohmann::ordered_json;

ordered_json example_json(const Report& report, const PropertyResult& result, const Example& example) {
  ordered_json json = {
      {"token", example.token}, {"replay", replay_command(report, result, example)}, {"finding", example.finding}};
  add_deviation(json, example.deviation);
  if (example.shown == Shown::after_other_calls) json["after_other_calls"] = true;
  return json;
}

ordered_json result_json(const Report& report, const PropertyResult& result) {
  ordered_json json{{"id", result.id},
                    {"title", result.title},
                    {"statement", result.statement},
                    {"level", name_of(result.level)},
                    {"theory", name_of(result.theory)},
                    {"verdict", name_of(result.verdict)},
                    {"reason", result.reason},
                    {"cases", result.cases}};
  json["coverage"] = result.coverage ? ordered_json{{"positions", result.coverage->positions},
                                                    {"claimed", result.coverage->claimed},
                                                    {"values", result.coverage->values},
                                                    {"of", result.coverage->of}}
                                     : ordered_json();
  json["horizon"] = result.horizon ? ordered_json(*result.horizon) : ordered_json();
  json["worst"] = result.worst ? example_json(report, result, *result.worst) : ordered_json();
  json["simplest"] = result.simplest ? example_json(report, result, *result.simplest) : ordered_json();
  json["seconds"] = result.seconds;
  if (result.share) json["share"] = tally_json(*result.share);
  return json;
}

ordered_json amount_json(const AskedAmount& amount) {
  ordered_json json = ordered_json::object();
  if (amount.budget) json["budget"] = *amount.budget;
  if (amount.values) json["values"] = *amount.values;
  if (amount.cases) json["cases"] = *amount.cases;
  if (amount.largest_call) json["largest_call"] = *amount.largest_call;
  return json;
}

ordered_json place_json(const CodePlace& place) { return {{"file", place.file}, {"line", place.line}}; }

// Its survey left null.
ordered_json report_json(const Report& report) {
  ordered_json json{{"format", "sextant-report"}, {"version", 1}, {"sextant", report.sextant_version}};
  json["subject"] = {{"argument", report.subject}, {"name", report.subject_name}, {"version", report.subject_version}};
  if (!report.source.file.empty()) json["source"] = place_json(report.source);
  json["spec"] = ordered_json::parse(report.spec_json);
  json["spec_text"] = report.spec_text;
  json["claim"] = {
      {"accuracy", report.claim}, {"first_position", report.first_position}, {"last_position", report.last_position}};
  if (!report.claim_notes.empty()) json["claim_notes"] = report.claim_notes;
  json["profile"] = report.profile;
  json["seed"] = report.seed;
  if (!report.recipe.empty()) json["recipe"] = report.recipe;
  if (!amount_text(report.amount).empty()) json["amount"] = amount_json(report.amount);
  json["shard"] =
      report.shard ? ordered_json{{"index", report.shard->index}, {"count", report.shard->count}} : ordered_json();
  json["strictness"] = name_of(report.strictness);
  json["command"] = report.command;
  if (!report.selection.empty()) json["selection"] = report.selection;
  ordered_json environment = ordered_json::object();
  for (const auto& [name, value] : report.environment) environment[name] = value;
  json["environment"] = environment;
  json["headline"] = headline(report);
  json["summary"] = ordered_json::array();
  for (const SummaryLine& line : summary_lines(report)) json["summary"].push_back(text_of(line));
  json["exit_status"] = report.exit_status;
  if (report.stop) {
    json["stop"] = {{"reason", report.stop->reason},
                    {"place", report.stop->place.file.empty() ? ordered_json() : place_json(report.stop->place)},
                    {"traceback", report.stop->traceback},
                    {"fix", report.stop->fix}};
  }
  if (report.diagnosis) json["diagnosis"] = diagnosis_json(*report.diagnosis);
  json["properties"] = ordered_json::array();
  for (const PropertyResult& result : report.results) json["properties"].push_back(result_json(report, result));
  if (!report.missing.empty()) json["missing"] = report.missing;
  if (!report.notes.empty()) json["notes"] = report.notes;
  json["survey"] = ordered_json();
  json["seconds"] = report.seconds;
  return json;
}

}  // namespace

std::string write_json(const Report& report) {
  std::string text = report_json(report).dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
  // Its long lists on one line: a value a line would make a report of a page one of ten thousand lines. Only the top
  // level is indented so.
  if (report.survey) {
    const std::string place = "\n  \"survey\": ";
    text.replace(text.rfind(place) + place.size(), 4,
                 survey_json(*report.survey).dump(-1, ' ', false, ordered_json::error_handler_t::replace));
  }
  return text;
}

std::string write_json_line(const Report& report) {
  ordered_json json = report_json(report);
  if (report.survey) json["survey"] = survey_json(*report.survey);
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

std::string write_json_line(const Report& report, const PropertyResult& result) {
  return result_json(report, result).dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace sextant
