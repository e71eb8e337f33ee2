#include "app/resume.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "app/command.hpp"
#include "reports/json.hpp"
#include "reports/read_json.hpp"
#include "reports/same_run.hpp"

namespace sextant {
namespace {

std::string shard_text(const Report& report) {
  return report.shard ? fmt::format("{}/{}", report.shard->index, report.shard->count) : "none";
}

// Of every property of the run, judged or not, in alphabetical order.
std::vector<std::string> ids_of(const Report& report) {
  std::vector<std::string> ids = report.missing;
  for (const PropertyResult& result : report.results) ids.push_back(result.id);
  std::ranges::sort(ids);
  return ids;
}

}  // namespace

std::filesystem::path event_log_in(const std::filesystem::path& directory) { return directory / "events.jsonl"; }

std::optional<LoggedRun> logged_run_in(const std::filesystem::path& directory) {
  const std::filesystem::path path = event_log_in(directory);
  std::error_code error;
  if (std::filesystem::status(path, error).type() == std::filesystem::file_type::not_found) return std::nullopt;
  return read_events_file(path);
}

void refuse_other_run(const std::filesystem::path& directory, const Report& logged, const Report& asked) {
  // Written and read as the log's was, so that both have the same form.
  const Report same_form = read_json(write_json_line(asked));
  std::string difference = difference_of_runs(logged, same_form).value_or("");
  if (difference.empty() && shard_text(logged) != shard_text(same_form))
    difference = fmt::format("shards: {} and {}", shard_text(logged), shard_text(same_form));
  if (difference.empty() && ids_of(logged) != ids_of(same_form)) difference = "properties (--only, --skip)";
  if (!difference.empty())
    throw UsageError(
        fmt::format("--resume {}: its log and this audit are of different {}", directory.string(), difference));
}

std::vector<PropertyResult> joined(std::vector<PropertyResult> earlier, const std::vector<PropertyResult>& later,
                                   const std::vector<std::string>& ids) {
  earlier.insert(earlier.end(), later.begin(), later.end());
  std::ranges::sort(earlier, {}, [&](const PropertyResult& result) { return std::ranges::find(ids, result.id); });
  return earlier;
}

}  // namespace sextant
