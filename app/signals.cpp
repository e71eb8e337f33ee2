#include "app/signals.hpp"

#include <unistd.h>

#include <csignal>

#include "app/command.hpp"

namespace sextant {
namespace {

// Sent by the destructor to the waiting thread only.
constexpr int farewell = SIGUSR1;

sigset_t watched() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, farewell}) sigaddset(&set, signal);
  return set;
}

}  // namespace

SignalsToStop::SignalsToStop() {
  const sigset_t set = watched();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  waiter_ = std::thread([this, set] {
    for (int signal = 0; sigwait(&set, &signal) == 0 && signal != farewell;) {
      if (source_.stop_requested()) _exit(exit_interrupted);
      source_.request_stop();
    }
  });
}

SignalsToStop::~SignalsToStop() {
  pthread_kill(waiter_.native_handle(), farewell);
  waiter_.join();
  const sigset_t set = watched();
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

}  // namespace sextant
