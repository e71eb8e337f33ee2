#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "reports/read_events.hpp"
#include "reports/report.hpp"

namespace sextant {

/// The log of a run in progress, a file that is only ever appended to, from which read_events.hpp tells how far the run
/// came, whenever it ended and however. Each event is one line of JSON, appended by one write(2) and brought to disk
/// before the call returns:
///
///     {"format": "sextant-events", "version": 1, "report": R}
///         R: a report of the run with nothing judged, its "missing" every property
///     {"judged": P}
///         P: an entry of the report's "properties", in the order in which they came
///     {"ended": {"survey": S, "seconds": N}}
///         only of a run that came to its end
///
/// While it is open no other process can open it. One call at a time.
class EventLog {
 public:
  /// Begins a log anew, in place of one that may be there. @throws WriteError, as all members do.
  EventLog(std::filesystem::path path, const Report& nothing_judged);
  /// Goes on with the log of a run that was cut short; what was torn off behind its last whole line is dropped.
  EventLog(std::filesystem::path path, const LoggedRun& run);
  EventLog(const EventLog&) = delete;
  EventLog& operator=(const EventLog&) = delete;
  ~EventLog();

  void judged(const Report& report, const PropertyResult& result);
  void ended(const Report& report);

 private:
  explicit EventLog(std::filesystem::path path);
  void lock() const;
  void cut(std::uintmax_t size) const;
  void append(std::string line) const;
  [[noreturn]] void fail(const char* what) const;

  std::filesystem::path path_;
  int file_ = -1;
};

}  // namespace sextant
