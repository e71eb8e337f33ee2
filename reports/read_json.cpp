#include "reports/read_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "reports/deviation_json.hpp"
#include "reports/diagnosis_json.hpp"
#include "reports/json_object.hpp"
#include "reports/parsed_json.hpp"
#include "reports/survey_json.hpp"
#include "reports/tally_json.hpp"

namespace sextant {
namespace {

using nlohmann::ordered_json;

constexpr std::uintmax_t largest_file = std::uintmax_t{256} << 20;

std::optional<Example> example_of(const JsonObject& result, const char* name) {
  if (result.at(name).is_null()) return std::nullopt;
  const JsonObject example = result.object(name);
  return Example{example.text("token"), example.text("finding"), deviation_of(example), shown_of(example)};
}

// Reports older than it have none.
std::optional<Coverage> coverage_of(const JsonObject& result) {
  if (!result.has("coverage")) return std::nullopt;
  const JsonObject coverage = result.object("coverage");
  Coverage read{coverage.integer("positions"), coverage.integer("claimed"), coverage.integer("values")};
  if (coverage.has("of")) read.of = coverage.text("of");
  return read;
}

CodePlace place_of(const JsonObject& place) { return {place.text("file"), place.integer("line")}; }

std::optional<Stop> stop_of(const JsonObject& report) {
  if (!report.has("stop")) return std::nullopt;
  const JsonObject stop = report.object("stop");
  Stop read{stop.text("reason"), {}, stop.text("traceback"), stop.text("fix")};
  if (!stop.at("place").is_null()) read.place = place_of(stop.object("place"));
  return read;
}

PropertyResult result_of(const JsonObject& json) {
  PropertyResult result;
  result.id = json.text("id");
  result.title = json.text("title");
  result.statement = json.text("statement");
  result.level = json.one_of("level", {Level::law, Level::contract, Level::advice});
  result.theory = json.one_of("theory", {Theory::holds, Theory::fails});
  result.verdict =
      json.one_of("verdict", {Verdict::holds, Verdict::violated, Verdict::undecided, Verdict::not_applicable,
                              Verdict::unsupported, Verdict::crashed, Verdict::timed_out});
  result.reason = json.text("reason");
  result.cases = json.integer("cases");
  result.coverage = coverage_of(json);
  if (!json.at("horizon").is_null()) result.horizon = json.integer("horizon");
  result.worst = example_of(json, "worst");
  result.simplest = example_of(json, "simplest");
  result.seconds = json.number("seconds");
  if (json.has("share")) result.share = std::make_shared<const Tally>(tally_of(json.object("share")));
  // What the writers rely on.
  if ((result.verdict == Verdict::violated || result.verdict == Verdict::holds) && !result.worst)
    json.fail("worst", "missing, though the property was judged");
  if (result.verdict == Verdict::violated && !result.simplest && result.theory == Theory::holds)
    json.fail("simplest", "missing, though the property is violated");
  return result;
}

}  // namespace

Report read_json(std::string_view text) {
  const ordered_json parsed = parsed_json(text);
  const JsonObject json(parsed, "");
  if (json.text("format") != "sextant-report") json.fail("format", R"(expected "sextant-report")");
  if (json.integer("version") != 1) json.fail("version", fmt::format("expected 1, got {}", json.integer("version")));
  Report report;
  report.sextant_version = json.text("sextant");
  const JsonObject subject = json.object("subject");
  report.subject = subject.text("argument");
  report.subject_name = subject.text("name");
  report.subject_version = subject.text("version");
  report.spec_json = json.object("spec").at("encoding").is_string() ? json.at("spec").dump() : "";
  if (report.spec_json.empty()) json.fail("spec", "expected a spec");
  if (const JsonObject spec = json.object("spec"); spec.has("position_dtype")) {
    report.grid.dtype = dtype_named(spec.text("position_dtype")).value_or(report.grid.dtype);
    report.grid.step = spec.number("position_step");
  }
  report.spec_text = json.text("spec_text");
  const JsonObject claim = json.object("claim");
  report.claim = claim.text("accuracy");
  report.first_position = claim.integer("first_position");
  report.last_position = claim.integer("last_position");
  if (json.has("claim_notes")) report.claim_notes = json.texts("claim_notes");
  report.profile = json.text("profile");
  if (!json.at("seed").is_number_unsigned()) json.fail("seed", "expected an integer");
  report.seed = json.at("seed").get<std::uint64_t>();
  if (json.has("recipe")) report.recipe = json.text("recipe");
  if (json.has("amount")) {
    const JsonObject amount = json.object("amount");
    if (amount.has("budget")) report.amount.budget = amount.number("budget");
    if (amount.has("values")) report.amount.values = amount.integer("values");
    if (amount.has("cases")) report.amount.cases = amount.integer("cases");
    if (amount.has("largest_call")) report.amount.largest_call = amount.integer("largest_call");
  }
  if (!json.at("shard").is_null()) {
    const JsonObject shard = json.object("shard");
    const std::int64_t index = shard.integer("index");
    const std::int64_t count = shard.integer("count");
    if (index < 1 || count > 100000 || index > count) shard.fail("expected 1 <= index <= count <= 100000");
    report.shard = Shard{static_cast<int>(index), static_cast<int>(count)};
  }
  report.strictness = json.one_of("strictness", {Strictness::lenient, Strictness::strict});
  report.command = json.text("command");
  if (json.has("selection")) report.selection = json.text("selection");
  const JsonObject environment = json.object("environment");
  for (const auto& [name, value] : json.at("environment").items())
    report.environment.emplace_back(name, environment.text(name.c_str()));
  report.exit_status = static_cast<int>(json.integer("exit_status"));
  if (json.has("diagnosis")) report.diagnosis = diagnosis_of(json.object("diagnosis"));
  if (!json.at("properties").is_array()) json.fail("properties", "expected a list");
  for (const ordered_json& result : json.at("properties")) {
    report.results.push_back(result_of(JsonObject(result, fmt::format("properties[{}]", report.results.size()))));
  }
  report.stop = stop_of(json);
  if (json.has("source")) report.source = place_of(json.object("source"));
  if (parsed.contains("missing")) report.missing = json.texts("missing");
  if (parsed.contains("notes")) report.notes = json.texts("notes");
  if (!json.at("survey").is_null()) {
    try {
      report.survey = survey_of(json.at("survey"));
    } catch (const std::invalid_argument& error) {
      throw ReadError(error.what());
    }
  }
  report.seconds = json.number("seconds");
  return report;
}

PropertyResult read_result(std::string_view text) {
  const ordered_json parsed = parsed_json(text);
  return result_of(JsonObject(parsed, ""));
}

std::string read_text_file(const std::filesystem::path& path) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error) throw ReadError(fmt::format("{}: cannot be read: {}", path.string(), error.message()));
  if (size > largest_file) throw ReadError(fmt::format("{}: {} bytes, more than a report has", path.string(), size));
  std::ifstream stream(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(stream), {}};
  if (!stream) throw ReadError(fmt::format("{}: cannot be read", path.string()));
  return text;
}

Report read_json_file(const std::filesystem::path& path) {
  const std::string text = read_text_file(path);
  try {
    return read_json(text);
  } catch (const ReadError& failure) {
    throw ReadError(fmt::format("{}: {}", path.string(), failure.what()));
  }
}

}  // namespace sextant
