#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "properties/verdict/verdict.hpp"

namespace sextant {

/// How far an audit is.
class Progress {
 public:
  /// `properties`: how many there are, those included that will be found not to apply.
  explicit Progress(std::int64_t properties) : properties_(properties) {}

  /// So many steps of those of the properties that apply are done.
  void advance(std::int64_t done, std::int64_t total);
  /// The property is being judged, or another thing done.
  void judging(const std::string& property) { property_ = property; }
  /// One more property is judged, or does not apply and counts no more.
  void judged(const PropertyResult& result);

  /// What is done of the steps, from 0 to 1; 0 where there are none.
  double share() const;

  /// How long the rest takes if its steps take as long as those that are done: seconds (1/share - 1). Steps differ, so
  /// it is an estimate; below a share of 1/20, of which no rest can be told, and with nothing left, it is nothing.
  std::optional<double> seconds_left(double seconds) const;

  /// "accuracy, 3 of 17 properties judged, 1 violated, 24 %, 12 s, about 38 s left" after that many seconds. Properties
  /// in which the subject failed are "failed"; what is 0 is left out.
  std::string text(double seconds) const;

 private:
  std::string property_;
  std::int64_t properties_;
  std::int64_t judged_ = 0;
  std::int64_t violated_ = 0;
  std::int64_t failed_ = 0;
  std::int64_t done_ = 0;
  std::int64_t total_ = 0;
};

/// The progress of an audit in one line of standard error: of a terminal rewritten at most ten times a second, and
/// erased when it goes out of scope; elsewhere, unless the environment has SEXTANT_PROGRESS=never, written once, when
/// two seconds have passed. One call at a time.
class ProgressLine {
 public:
  using Clock = std::chrono::steady_clock;
  enum class Kind { none, once, rewritten };

  /// @param start  when the audit began.
  ProgressLine(std::int64_t properties, Clock::time_point start);
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine();

  /// As those of Progress.
  void advance(std::int64_t done, std::int64_t total);
  void judging(const std::string& property);
  void judged(const PropertyResult& result);

 private:
  void show();

  Kind kind_;
  Clock::time_point start_;
  Clock::time_point shown_ = {};
  Progress progress_;
};

}  // namespace sextant
