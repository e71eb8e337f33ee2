#include "app/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace sextant {

void Progress::advance(std::int64_t done, std::int64_t total) {
  done_ = done;
  total_ = total;
}

void Progress::judged(const PropertyResult& result) {
  if (result.verdict == Verdict::not_applicable) {
    --properties_;
    return;
  }
  ++judged_;
  if (is_violated_law(result)) ++violated_;
  if (result.verdict == Verdict::crashed || result.verdict == Verdict::timed_out) ++failed_;
}

double Progress::share() const { return total_ > 0 ? static_cast<double>(done_) / static_cast<double>(total_) : 0; }

std::optional<double> Progress::seconds_left(double seconds) const {
  constexpr double least = 0.05;
  const double done = share();
  if (done < least || done >= 1) return std::nullopt;
  return seconds * (1 / done - 1);
}

std::string Progress::text(double seconds) const {
  std::string text = property_.empty() ? "" : property_ + ", ";
  text += fmt::format("{} of {} properties judged", judged_, properties_);
  if (violated_ > 0) text += fmt::format(", {} violated", violated_);
  if (failed_ > 0) text += fmt::format(", {} failed", failed_);
  text += fmt::format(", {:.0f} %, {:.0f} s", 100 * share(), seconds);
  if (const auto left = seconds_left(seconds)) text += fmt::format(", about {:.0f} s left", *left);
  return text;
}

namespace {

ProgressLine::Kind kind_of_standard_error() {
  if (isatty(STDERR_FILENO) != 0) return ProgressLine::Kind::rewritten;
  const char* const said = std::getenv("SEXTANT_PROGRESS");
  return said != nullptr && std::string_view(said) == "never" ? ProgressLine::Kind::none : ProgressLine::Kind::once;
}

}  // namespace

ProgressLine::ProgressLine(std::int64_t properties, Clock::time_point start)
    : kind_(kind_of_standard_error()), start_(start), progress_(properties) {}

ProgressLine::~ProgressLine() {
  if (kind_ != Kind::rewritten || shown_ == Clock::time_point()) return;
  fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
}

void ProgressLine::advance(std::int64_t done, std::int64_t total) {
  progress_.advance(done, total);
  show();
}

void ProgressLine::judging(const std::string& property) {
  progress_.judging(property);
  show();
}

void ProgressLine::judged(const PropertyResult& result) {
  progress_.judged(result);
  show();
}

void ProgressLine::show() {
  if (kind_ == Kind::none) return;
  const Clock::time_point now = Clock::now();
  const double seconds = std::chrono::duration<double>(now - start_).count();
  if (kind_ == Kind::once) {
    constexpr double noticeable = 2;
    if (seconds < noticeable) return;
    fmt::print(stderr, "sextant: still judging: {}\n", progress_.text(seconds));
    kind_ = Kind::none;
    return;
  }
  if (now - shown_ < std::chrono::milliseconds(100)) return;
  shown_ = now;
  fmt::print(stderr, "\r\x1b[K{}", progress_.text(seconds));
  std::fflush(stderr);
}

}  // namespace sextant
