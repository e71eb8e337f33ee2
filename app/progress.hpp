#pragma once

#include <cstdint>

namespace sextant {

/// A progress bar on standard error where that is a terminal; silent elsewhere. Erased when it goes out of scope.
class ProgressBar {
 public:
  ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  ~ProgressBar();

  /// One call at a time.
  void show(std::int64_t done, std::int64_t total);

 private:
  bool terminal_;
  std::int64_t shown_ = -1;
};

}  // namespace sextant
