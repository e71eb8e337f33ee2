#include "app/resume.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>
#include <string_view>

#include "app/command.hpp"
#include "app/spec_argument.hpp"
#include "lib/numeric/content_hash.hpp"
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

std::string digest_of_subject(const std::string& subject) {
  const auto colon = subject.find(':');
  if (colon == std::string::npos) return "";
  const std::string rest = subject.substr(colon + 1);
  std::vector<std::string> names{rest};  // a path may have blanks, a command has words
  std::istringstream words(rest);
  for (std::string word; words >> word;) {
    if (word != rest) names.push_back(word);
  }
  ContentHash hash;
  bool has_file = false;
  for (const std::string& name : names) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(name, error)) continue;
    std::ifstream stream(name, std::ios::binary);
    has_file = true;
    std::array<char, 65536> part{};
    while (stream.read(part.data(), part.size()) || stream.gcount() > 0)
      hash.add(std::string_view(part.data(), static_cast<std::size_t>(stream.gcount())));
  }
  return has_file ? fmt::format("{:016x}", hash.value()) : "";
}

void refuse_changed_subject(const std::filesystem::path& directory, const LoggedRun& logged,
                            const std::string& digest) {
  if (!logged.subject_digest.empty() && logged.subject_digest != digest)
    throw UsageError(fmt::format("--resume {}: {}: its file has changed since the log was begun", directory.string(),
                                 logged.report.subject));
}

std::vector<PropertyResult> joined(std::vector<PropertyResult> earlier, const std::vector<PropertyResult>& later,
                                   const std::vector<std::string>& ids) {
  earlier.insert(earlier.end(), later.begin(), later.end());
  std::ranges::sort(earlier, {}, [&](const PropertyResult& result) { return std::ranges::find(ids, result.id); });
  return earlier;
}

std::string resuming_command(std::span<const std::string> words, const std::string& directory,
                             const std::string& spec) {
  std::string line;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--report" || word == "--resume") {
      ++i;
    } else if (!word.starts_with("--report=") && !word.starts_with("--resume=")) {
      const bool is_read = word == "--spec=-" || (i > 0 && words[i - 1] == "--spec" && word == "-");
      const std::string plain = word == "--spec=-" ? "--spec=" + spec : spec;
      line += shell_word(is_read ? plain : word) + " ";
    }
  }
  return line + "--resume " + shell_word(directory);
}

}  // namespace sextant
