#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace sextant {

/// How far an audit is, in one line of standard error where that is a terminal, rewritten at most ten times a second:
/// "accuracy, 3 of 17 properties judged, 24 %, 12 s". Silent elsewhere, and erased when it goes out of scope. One call
/// at a time.
class ProgressLine {
 public:
  /// `properties`: how many are to be judged.
  explicit ProgressLine(std::int64_t properties);
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine();

  /// So many steps of all are done.
  void advance(std::int64_t done, std::int64_t total);
  /// The property is being judged.
  void judging(const std::string& property);
  /// One more property is judged.
  void judged();

 private:
  using Clock = std::chrono::steady_clock;

  void show();

  bool is_terminal_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point shown_ = {};
  std::string property_;
  std::int64_t properties_;
  std::int64_t judged_ = 0;
  std::int64_t percent_ = 0;
};

}  // namespace sextant
