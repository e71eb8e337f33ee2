#include "app/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace sextant {

ProgressBar::ProgressBar() : terminal_(isatty(STDERR_FILENO) != 0) {}

ProgressBar::~ProgressBar() {
  if (terminal_ && shown_ >= 0) {
    fmt::print(stderr, "\r\x1b[K");
    std::fflush(stderr);
  }
}

void ProgressBar::show(std::int64_t done, std::int64_t total) {
  if (!terminal_ || total == 0) return;
  const std::int64_t percent = 100 * done / total;
  if (percent == shown_) return;
  shown_ = percent;
  constexpr std::int64_t width = 40;
  const auto filled = static_cast<std::size_t>(width * done / total);
  fmt::print(stderr, "\r[{:<{}}] {:3}%", std::string(filled, '#'), width, percent);
  std::fflush(stderr);
}

}  // namespace sextant
