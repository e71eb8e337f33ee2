#pragma once

#include <filesystem>
#include <span>
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

/// The content of the files that a subject's name holds, "python:a.py" or "exec:./a.out --flag", in 16 digits; empty
/// where it holds none. Tells a file that was changed by accident from the same one, not one that was made to
/// deceive.
std::string digest_of_subject(const std::string& subject);

/// Refuses to go on with a log of a subject whose files have changed. @throws UsageError.
void refuse_changed_subject(const std::filesystem::path& directory, const LoggedRun& logged, const std::string& digest);

/// The results of both parts of a run, in the order of `ids`.
std::vector<PropertyResult> joined(std::vector<PropertyResult> earlier, const std::vector<PropertyResult>& later,
                                   const std::vector<std::string>& ids);

/// The command line, of those words, that goes on with an audit of them which reports into `directory`: --resume in the
/// place of --report, each word as a shell reads it back. "-" of --spec is given as `spec`, what was read there.
std::string resuming_command(std::span<const std::string> words, const std::string& directory, const std::string& spec);

}  // namespace sextant
