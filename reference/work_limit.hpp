#pragma once

#include <cstdint>
#include <stdexcept>

namespace sextant::reference {

/// What the exact tier has done on this thread, in steps: an operation on an interval is as many as its precision has
/// bits, of the elementary functions 64 times as many. A count, not a time, so that the same questions come to the same
/// end on every machine; a step is about a nanosecond.
std::uint64_t steps_taken();

/// More work was asked of the exact tier than a WorkLimit allows.
class WorkLimitReached : public std::runtime_error {
 public:
  WorkLimitReached() : std::runtime_error("the exact tier's work limit is reached") {}
};

/// As long as it lives, interval operations of this thread throw WorkLimitReached once they have come to `steps` more
/// than when it began. Of two limits the inner one holds.
class WorkLimit {
 public:
  explicit WorkLimit(std::uint64_t steps);
  WorkLimit(const WorkLimit&) = delete;
  WorkLimit& operator=(const WorkLimit&) = delete;
  ~WorkLimit();

 private:
  std::uint64_t outer_;
};

/// As long as it lives, interval operations of this thread are neither limited nor counted: they are somebody else's, a
/// subject's say.
class WithoutWorkLimit {
 public:
  WithoutWorkLimit();
  WithoutWorkLimit(const WithoutWorkLimit&) = delete;
  WithoutWorkLimit& operator=(const WithoutWorkLimit&) = delete;
  ~WithoutWorkLimit();

 private:
  std::uint64_t taken_;
  std::uint64_t allowed_;
};

}  // namespace sextant::reference
