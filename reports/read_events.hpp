#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "properties/verdict/tally.hpp"
#include "reports/report.hpp"

namespace sextant {

/// What an event log (event_log.hpp) tells.
struct LoggedRun {
  Report report;  ///< results in the order in which a whole run has them; `missing` names those that the log has not
  std::vector<Underway>
      begun;  ///< of those that the log has not, how far they came, where any of their cases was judged
  std::string subject_digest;  ///< of the subject's files when the run began; empty where it has none
  bool is_finished = false;    ///< whether its last line is that of a run that came to its end
  std::uintmax_t size = 0;  ///< bytes of its whole lines: what stands behind them was torn off in the middle of a write
};

/// The run that a log's text tells of; nothing if not even its first line is whole. A last line without a line break is
/// dropped.
/// @throws ReadError, one line that numbers the log's line, for text that no audit of this version writes.
std::optional<LoggedRun> read_events(std::string_view text);

/// The same of a file of at most 256 MiB. @throws ReadError, naming the file.
std::optional<LoggedRun> read_events_file(const std::filesystem::path& path);

}  // namespace sextant
