#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>

#include "properties/verdict/tally.hpp"
#include "reports/read_events.hpp"
#include "reports/report.hpp"

namespace sextant {

/// The log of a run in progress, a file that is only ever appended to, from which read_events.hpp tells how far the run
/// came, whenever it ended and however. Each event is one line of JSON, appended by one write(2) and brought to disk
/// before the call returns:
///
///     {"format": "sextant-events", "version": 1, "subject": D, "report": R}
///         D: the digest of the subject's files; R: a report of the run with nothing judged, its "missing" every
///         property
///     {"judging": {"id": I, "done": N, "share": T}}
///         the first N cases of a property are judged, and came to T, the "share" of a shard's report; a line for each
///         block of its sweep, fewer between other cases. Such lines reach the disk some time later: a machine that is
///         lost may lose the last tenth of a second of them
///     {"judged": P}
///         P: an entry of the report's "properties", in the order in which they came
///     {"ended": {"survey": S, "notes": L, "seconds": N}}
///         only of a run that came to its end
///
/// While it is open no other process can open it. One call at a time.
class EventLog {
 public:
  /// Begins a log anew, in place of one that may be there. @throws WriteError, as all members do.
  EventLog(std::filesystem::path path, const Report& nothing_judged, const std::string& subject_digest = "");
  /// Goes on with the log of a run that was cut short; what was torn off behind its last whole line is dropped.
  EventLog(std::filesystem::path path, const LoggedRun& run);
  EventLog(const EventLog&) = delete;
  EventLog& operator=(const EventLog&) = delete;
  ~EventLog();

  void judging(const Underway& underway);
  void judged(const Report& report, const PropertyResult& result);
  void ended(const Report& report);

 private:
  explicit EventLog(std::filesystem::path path);
  void lock() const;
  void cut(std::uintmax_t size) const;
  void append(std::string line) const;
  void sync() const;
  [[noreturn]] void fail(const char* what) const;

  std::filesystem::path path_;
  int file_ = -1;
  std::chrono::steady_clock::time_point synced_;
};

}  // namespace sextant
