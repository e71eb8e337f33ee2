#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "attack/run/execute.hpp"

namespace sextant::attack {

/// A copy of this program in which one instruction set is forced, since SEXTANT_FORCE_TARGET is read once per process.
/// It executes tokens.
class Worker {
 public:
  explicit Worker(std::string target);
  ~Worker();
  Worker(Worker&& other) noexcept;
  Worker& operator=(Worker&&) = delete;

  const std::string& target() const { return target_; }

  void ask(const std::string& token);
  /// The answer to what was asked last. A worker that died or that answers nothing for ten minutes is started again,
  /// and its answer says so.
  Answer answer();

 private:
  void start();
  void stop();

  std::string target_;
  pid_t process_ = -1;
  int requests_ = -1;
  int answers_ = -1;
};

/// The worker's side: answers tokens from standard input until that ends.
int serve();

}  // namespace sextant::attack
