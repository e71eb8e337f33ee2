#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "reports/read_events.hpp"

namespace sextant {

/// Where an audit that reports into `directory` keeps its event log.
std::filesystem::path event_log_in(const std::filesystem::path& directory);

/// The run whose log is in `directory`; nothing if none has begun there. @throws ReadError for a file that is no log.
std::optional<LoggedRun> logged_run_in(const std::filesystem::path& directory);

/// Refuses to go on with a log of another run than the one that is asked for, with none of its properties judged.
/// @throws UsageError, one line that says in what they differ.
void refuse_other_run(const std::filesystem::path& directory, const Report& logged, const Report& asked);

/// The results of both parts of a run, in the order of `ids`.
std::vector<PropertyResult> joined(std::vector<PropertyResult> earlier, const std::vector<PropertyResult>& later,
                                   const std::vector<std::string>& ids);

}  // namespace sextant
