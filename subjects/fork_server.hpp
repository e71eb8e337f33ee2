#pragma once

#include <array>
#include <memory>
#include <stop_token>

#include "subjects/process.hpp"

namespace sextant {

/// A Python worker that has imported its subject's file, called nothing of it, and forks a child for each session: as
/// fresh as a new interpreter, but for what an import draws at random, in 5 ms instead of 150. The children become ours
/// (adopt_descendants), so that a Process watches them as any other. Not for use by two threads at once.
class ForkServer {
 public:
  /// Starts one and waits until the file is imported.
  /// @param command  that of an ordinary worker.
  /// @returns null where a fork would not be fresh or not be safe: the worker says so if the import left threads, open
  /// files, children, shared memory or a framework that does not survive a fork; or if it ended, or was not ready by
  /// the deadline.
  /// @throws Interrupted on a stop request; what Process throws.
  static std::unique_ptr<ForkServer> start(const Command& command, Deadline deadline, const std::stop_token& stop);

  ForkServer(const ForkServer&) = delete;
  ForkServer& operator=(const ForkServer&) = delete;
  ~ForkServer();

  /// A new session's process. @returns null if the server does not answer by the deadline; it is of no use any more
  /// then.
  /// @throws Interrupted.
  std::unique_ptr<Process> fork(Deadline deadline, const std::stop_token& stop);

 private:
  ForkServer(const Command& command, std::array<int, 2> sockets);

  std::string receive(Deadline deadline, const std::stop_token& stop) const;

  int control_;
  std::unique_ptr<Process> process_;
};

}  // namespace sextant
