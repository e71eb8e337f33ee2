#include "reports/baseline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "reports/json.hpp"
#include "reports/json_object.hpp"
#include "reports/parsed_json.hpp"
#include "reports/read_json.hpp"

namespace sextant {
namespace {

using nlohmann::ordered_json;

constexpr std::string_view format_name = "sextant-baseline";

// JSON has no infinity and no NaN.
ordered_json ratio_json(double of_bound) {
  if (std::isfinite(of_bound)) return of_bound;
  return std::isnan(of_bound) ? "nan" : "inf";
}

double ratio_of(const JsonObject& result) {
  const ordered_json& json = result.at("of_bound");
  if (json.is_number()) return json.get<double>();
  const std::string word = result.text("of_bound");
  if (word == "inf") return INFINITY;
  if (word == "nan") return std::nan("");
  result.fail("of_bound", R"(expected a number, "inf" or "nan")");
}

ordered_json result_json(const PropertyResult& result) {
  ordered_json json{{"level", name_of(result.level)}, {"verdict", name_of(result.verdict)}};
  if (is_judged(result) && result.worst) json["of_bound"] = ratio_json(result.worst->deviation.of_bound);
  if (result.horizon) json["horizon"] = *result.horizon;
  if (result.coverage && result.coverage->values > 0)
    json["swept"] = {result.coverage->positions, result.coverage->claimed};
  return json;
}

PropertyResult result_of(const std::string& id, const JsonObject& json) {
  PropertyResult result;
  result.id = id;
  result.level = json.one_of("level", {Level::law, Level::contract, Level::advice});
  result.verdict = json.one_of("verdict", {Verdict::holds, Verdict::violated, Verdict::undecided, Verdict::unsupported,
                                           Verdict::crashed, Verdict::timed_out});
  if (json.has("of_bound")) result.worst = Example{"", "", {ratio_of(json), 0, 0}};
  if (json.has("horizon")) result.horizon = json.integer("horizon");
  if (json.has("swept")) {
    const ordered_json& swept = json.at("swept");
    if (!swept.is_array() || swept.size() != 2 || !swept[0].is_number_integer() || !swept[1].is_number_integer())
      json.fail("swept", "expected two integers: positions compared, and claimed");
    result.coverage =
        Coverage{.positions = swept[0].get<std::int64_t>(), .claimed = swept[1].get<std::int64_t>(), .values = 1};
  }
  return result;
}

}  // namespace

std::string write_baseline(const Report& report) {
  ordered_json json{{"format", format_name}, {"version", 1}, {"sextant", report.sextant_version}};
  json["subject"] = report.subject;
  json["spec"] = ordered_json::parse(report.spec_json);
  json["claim"] = {
      {"accuracy", report.claim}, {"first_position", report.first_position}, {"last_position", report.last_position}};
  const bool has_class = report.survey && report.survey->errors && !report.survey->measured_class.empty();
  json["measured_class"] = has_class ? ordered_json(report.survey->measured_class) : ordered_json();
  if (report.diagnosis) json["cause"] = words_of(*report.diagnosis);
  json["profile"] = report.profile;
  json["seed"] = report.seed;
  for (const auto& [name, amount] : {std::pair("values", report.amount.values),
                                     {"cases", report.amount.cases},
                                     {"largest_call", report.amount.largest_call}}) {
    if (amount) json[name] = *amount;
  }
  if (report.amount.budget) json["budget"] = *report.amount.budget;
  if (!report.recipe.empty()) json["recipe"] = report.recipe;
  json["strictness"] = name_of(report.strictness);
  json["properties"] = ordered_json();
  std::string text = json.dump(1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
  // A property a line.
  std::string properties;
  for (const PropertyResult& result : report.results) {
    if (result.verdict == Verdict::not_applicable) continue;
    properties += fmt::format("{}\n  {}: {}", properties.empty() ? "" : ",", ordered_json(result.id).dump(),
                              result_json(result).dump());
  }
  const std::string place = "\"properties\": ";
  text.replace(text.rfind(place) + place.size(), 4, fmt::format("{{{}\n }}", properties));
  return text;
}

Report read_baseline(std::string_view text) {
  const ordered_json parsed = parsed_json(text);
  const JsonObject json(parsed, "");
  if (json.text("format") != format_name) json.fail("format", fmt::format("expected \"{}\"", format_name));
  if (json.integer("version") != 1) json.fail("version", fmt::format("expected 1, got {}", json.integer("version")));
  Report report;
  report.sextant_version = json.text("sextant");
  report.subject = json.text("subject");
  const JsonObject spec = json.object("spec");
  spec.text("encoding");
  report.spec_json = json.at("spec").dump();
  if (spec.has("position_dtype")) {
    report.grid.dtype = dtype_named(spec.text("position_dtype")).value_or(report.grid.dtype);
    report.grid.step = spec.number("position_step");
  }
  const JsonObject claim = json.object("claim");
  report.claim = claim.text("accuracy");
  report.first_position = claim.integer("first_position");
  report.last_position = claim.integer("last_position");
  if (json.has("measured_class")) {
    report.survey.emplace().measured_class = json.text("measured_class");
    report.survey->errors.emplace();
  }
  if (json.has("cause")) report.diagnosis.emplace().differences.push_back({.words = json.text("cause"), .row = ""});
  report.profile = json.text("profile");
  if (!json.at("seed").is_number_unsigned()) json.fail("seed", "expected an integer");
  report.seed = json.at("seed").get<std::uint64_t>();
  if (json.has("values")) report.amount.values = json.integer("values");
  if (json.has("cases")) report.amount.cases = json.integer("cases");
  if (json.has("largest_call")) report.amount.largest_call = json.integer("largest_call");
  if (json.has("budget")) {
    if (!json.at("budget").is_number()) json.fail("budget", "expected a number");
    report.amount.budget = json.at("budget").get<double>();
  }
  if (json.has("recipe")) report.recipe = json.text("recipe");
  report.strictness = json.one_of("strictness", {Strictness::lenient, Strictness::strict});
  json.object("properties");
  for (const auto& [id, result] : json.at("properties").items())
    report.results.push_back(result_of(id, JsonObject(result, fmt::format("properties.{}", id))));
  report.exit_status = exit_status(report);
  return report;
}

Reference read_reference_file(const std::filesystem::path& path) {
  const std::string text = read_text_file(path);
  try {
    const ordered_json parsed = parsed_json(text);
    if (!parsed.is_object() || !parsed.contains("format"))
      throw ReadError("expected a baseline or a report.json, which have a field format");
    return parsed.at("format") == format_name ? Reference{read_baseline(text), ReferenceForm::baseline}
                                              : Reference{read_json(text), ReferenceForm::report};
  } catch (const ReadError& failure) {
    throw ReadError(fmt::format("{}: {}", path.string(), failure.what()));
  }
}

std::string write_reference(const Report& report, ReferenceForm form) {
  return form == ReferenceForm::baseline ? write_baseline(report) : write_json(report);
}

}  // namespace sextant
