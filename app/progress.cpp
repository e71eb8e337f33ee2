#include "app/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace sextant {

ProgressLine::ProgressLine(std::int64_t properties)
    : is_terminal_(isatty(STDERR_FILENO) != 0), properties_(properties) {}

ProgressLine::~ProgressLine() {
  if (!is_terminal_ || shown_ == Clock::time_point()) return;
  fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
}

void ProgressLine::advance(std::int64_t done, std::int64_t total) {
  if (total > 0) percent_ = 100 * done / total;
  show();
}

void ProgressLine::judging(const std::string& property) {
  property_ = property;
  show();
}

void ProgressLine::judged() {
  ++judged_;
  show();
}

void ProgressLine::show() {
  if (!is_terminal_) return;
  const Clock::time_point now = Clock::now();
  if (now - shown_ < std::chrono::milliseconds(100)) return;
  shown_ = now;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - start_).count();
  fmt::print(stderr, "\r\x1b[K{}{}{} of {} properties judged, {} %, {} s", property_, property_.empty() ? "" : ", ",
             judged_, properties_, percent_, seconds);
  std::fflush(stderr);
}

}  // namespace sextant
