#include "reports/read_events.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "reports/diagnosis_json.hpp"
#include "reports/parsed_json.hpp"
#include "reports/read_json.hpp"
#include "reports/survey_json.hpp"
#include "reports/tally_json.hpp"

namespace sextant {
namespace {

using nlohmann::ordered_json;

// A survey's line has some hundred kilobytes; a line far beyond that is not ours, and is refused before it is parsed.
constexpr std::size_t longest_line = std::size_t{16} << 20;

constexpr std::string_view first_words = R"({"format":"sextant-events")";

ordered_json parsed(std::string_view line) {
  if (line.size() > longest_line) throw ReadError(fmt::format("{} bytes, more than an event has", line.size()));
  ordered_json json = parsed_json(line);
  if (!json.is_object()) throw ReadError("expected an object");
  return json;
}

class Events {
 public:
  void take(std::string_view line) {
    const ordered_json json = parsed(line);
    if (!has_head_) return begin(json);
    if (run_.is_finished) throw ReadError("follows the end of the run");
    if (json.contains("judging")) return judging(json["judging"]);
    if (json.contains("judged")) return judged(json["judged"]);
    if (json.contains("ended")) return ended(json["ended"]);
    throw ReadError("unknown event");
  }

  LoggedRun run() && {
    const auto place = [&](const std::string& id) { return std::ranges::find(order_, id); };
    std::ranges::sort(run_.report.results, {}, [&](const PropertyResult& result) { return place(result.id); });
    run_.report.exit_status = exit_status(run_.report);
    return std::move(run_);
  }

 private:
  void begin(const ordered_json& json) {
    if (json.value("format", ordered_json()) != "sextant-events")
      throw ReadError(R"(format: expected "sextant-events")");
    if (json.value("version", ordered_json()) != 1) throw ReadError("version: expected 1");
    if (!json.contains("report")) throw ReadError("report: missing");
    // Logs of before it was kept have none.
    if (json.contains("subject")) run_.subject_digest = JsonObject(json, "").text("subject");
    run_.report = read_json(json["report"].dump());
    if (!run_.report.results.empty()) throw ReadError("report: has results before any was judged");
    order_ = run_.report.missing;
    std::vector<std::string> sorted = order_;
    std::ranges::sort(sorted);
    if (std::ranges::adjacent_find(sorted) != sorted.end())
      throw ReadError("report.missing: a property stands in it twice");
    has_head_ = true;
  }

  void judging(const ordered_json& json) {
    Underway underway = underway_of(JsonObject(json, "judging"));
    if (std::ranges::find(run_.report.missing, underway.id) == run_.report.missing.end())
      throw ReadError("judging.id: is not a property that this run has left to judge");
    std::erase_if(run_.begun, [&](const Underway& one) { return one.id == underway.id; });
    run_.begun.push_back(std::move(underway));
  }

  void judged(const ordered_json& json) {
    PropertyResult result = read_result(json.dump());
    const auto found = std::ranges::find(run_.report.missing, result.id);
    if (found == run_.report.missing.end()) {
      const bool twice = std::ranges::find(order_, result.id) != order_.end();
      throw ReadError(twice ? fmt::format("{} is judged twice", result.id)
                            : "has a result for a property that this run was not asked for");
    }
    run_.report.missing.erase(found);
    std::erase_if(run_.begun, [&](const Underway& one) { return one.id == result.id; });
    run_.report.results.push_back(std::move(result));
  }

  void ended(const ordered_json& json) {
    if (!run_.report.missing.empty())
      throw ReadError(fmt::format("the run ends, though {} is not judged", run_.report.missing.front()));
    if (!json.is_object() || !json.contains("survey") || !json.contains("seconds") || !json["seconds"].is_number())
      throw ReadError("ended: expected survey and seconds");
    try {
      if (!json["survey"].is_null()) run_.report.survey = survey_of(json["survey"]);
    } catch (const std::invalid_argument& error) {
      throw ReadError(error.what());
    }
    const JsonObject ended(json, "ended");
    if (ended.has("diagnosis")) run_.report.diagnosis = diagnosis_of(ended.object("diagnosis"));
    if (json.contains("notes")) run_.report.notes = JsonObject(json, "ended").texts("notes");
    run_.report.seconds = json["seconds"].get<double>();
    run_.is_finished = true;
  }

  LoggedRun run_;
  std::vector<std::string> order_;
  bool has_head_ = false;
};

}  // namespace

std::optional<LoggedRun> read_events(std::string_view text) {
  Events events;
  std::size_t start = 0;
  for (std::size_t number = 1;; ++number) {
    const std::size_t end = text.find('\n', start);
    if (end == std::string_view::npos) break;
    try {
      events.take(text.substr(start, end - start));
    } catch (const ReadError& error) {
      throw ReadError(fmt::format("line {}: {}", number, error.what()));
    }
    start = end + 1;
  }
  if (start == 0) {
    // The first line may be torn, but a file that begins otherwise is no log of ours, which must not be taken for an
    // empty one and overwritten.
    if (text.substr(0, first_words.size()) != first_words.substr(0, text.size()))
      throw ReadError("line 1: no event log");
    return std::nullopt;
  }
  LoggedRun run = std::move(events).run();
  run.size = start;
  return run;
}

std::optional<LoggedRun> read_events_file(const std::filesystem::path& path) {
  const std::string text = read_text_file(path);
  try {
    return read_events(text);
  } catch (const ReadError& error) {
    throw ReadError(fmt::format("{}: {}", path.string(), error.what()));
  }
}

}  // namespace sextant
