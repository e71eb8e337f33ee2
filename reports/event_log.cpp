#include "reports/event_log.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "reports/diagnosis_json.hpp"
#include "reports/json.hpp"
#include "reports/survey_json.hpp"
#include "reports/tally_json.hpp"
#include "reports/write.hpp"

namespace sextant {
namespace {

// The file's own blocks are not enough: a new file's name must reach the disk too.
void sync_directory_of(const std::filesystem::path& path) {
  const std::filesystem::path directory = path.has_parent_path() ? path.parent_path() : ".";
  const int file = open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return;
  fsync(file);  // where a file system cannot sync a directory, nothing better can be done
  close(file);
}

}  // namespace

EventLog::EventLog(std::filesystem::path path) : path_(std::move(path)) {
  file_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file_ < 0) fail("cannot be opened");
}

EventLog::EventLog(std::filesystem::path path, const Report& nothing_judged, const std::string& subject_digest)
    : EventLog(std::move(path)) {
  lock();
  cut(0);
  append(fmt::format(R"({{"format":"sextant-events","version":1,"subject":"{}","report":{}}})", subject_digest,
                     write_json_line(nothing_judged)));
  sync();
  sync_directory_of(path_);
}

EventLog::EventLog(std::filesystem::path path, const LoggedRun& run) : EventLog(std::move(path)) {
  lock();
  cut(run.size);
}

EventLog::~EventLog() { close(file_); }

void EventLog::judging(const Underway& underway) {
  using nlohmann::ordered_json;
  append(fmt::format(R"({{"judging":{}}})",
                     underway_json(underway).dump(-1, ' ', false, ordered_json::error_handler_t::replace)));
  const auto now = std::chrono::steady_clock::now();
  if (now < synced_ + std::chrono::milliseconds(100)) return;
  sync();
  synced_ = now;
}

void EventLog::judged(const Report& report, const PropertyResult& result) {
  append(fmt::format(R"({{"judged":{}}})", write_json_line(report, result)));
  sync();
}

void EventLog::ended(const Report& report) {
  using nlohmann::ordered_json;
  const std::string survey =
      report.survey ? survey_json(*report.survey).dump(-1, ' ', false, ordered_json::error_handler_t::replace) : "null";
  const std::string diagnosis =
      report.diagnosis ? diagnosis_json(*report.diagnosis).dump(-1, ' ', false, ordered_json::error_handler_t::replace)
                       : "null";
  append(fmt::format(R"({{"ended":{{"survey":{},"diagnosis":{},"notes":{},"seconds":{}}}}})", survey, diagnosis,
                     ordered_json(report.notes).dump(), report.seconds));
  sync();
}

void EventLog::lock() const {
  // Some network file systems have no locks: no reason to refuse them.
  if (flock(file_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    throw WriteError(fmt::format("{}: another audit is writing it", path_.string()));
}

void EventLog::cut(std::uintmax_t size) const {
  if (ftruncate(file_, static_cast<off_t>(size)) != 0) fail("cannot be cut");
}

void EventLog::append(std::string line) const {
  line += '\n';
  ssize_t written = -1;
  do written = write(file_, line.data(), line.size());
  while (written < 0 && errno == EINTR);
  if (written >= 0 && static_cast<std::size_t>(written) < line.size())
    errno = ENOSPC;  // a regular file takes less only where there is no room
  if (written != static_cast<ssize_t>(line.size())) fail("cannot be written");
}

void EventLog::sync() const {
  if (fdatasync(file_) != 0) fail("cannot be written");
}

void EventLog::fail(const char* what) const {
  throw WriteError(fmt::format("{}: {}: {}", path_.string(), what, std::strerror(errno)));
}

}  // namespace sextant
