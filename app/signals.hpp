#pragma once

#include <pthread.h>

#include <stop_token>
#include <thread>

namespace sextant {

/// Turns SIGINT, SIGTERM and SIGHUP into a stop request while in scope, so that workers are ended in order; a second
/// one ends the program at once. Make it before any other thread, which inherit its signal mask.
class SignalsToStop {
 public:
  SignalsToStop();
  SignalsToStop(const SignalsToStop&) = delete;
  SignalsToStop& operator=(const SignalsToStop&) = delete;
  ~SignalsToStop();

  std::stop_token token() const { return source_.get_token(); }

 private:
  std::stop_source source_;
  std::thread waiter_;
};

}  // namespace sextant
