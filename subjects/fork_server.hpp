#pragma once

#include <array>
#include <memory>
#include <stop_token>
#include <string>

#include "subjects/process.hpp"

namespace sextant {

/// A Python worker that has imported its subject's file, called nothing of it, and forks a child for each session: as
/// fresh as a new interpreter, but for what an import draws at random, in 5 ms instead of 150. The children become ours
/// (adopt_descendants), so that a Process watches them as any other. Not for use by two threads at once.
class ForkServer {
 public:
  /// What starting one came to: a server, or, where forks would not be fresh or not be safe, the process itself as the
  /// worker of one session, and why, if it said so: the import left threads, open files, children or shared memory, or
  /// brought in a framework that does not survive a fork. A process that has ended, or is not ready by the deadline, is
  /// such a worker too: who asks it is told. Neither where the program cannot be started or forks not be adopted.
  struct Started {
    std::unique_ptr<ForkServer> server;
    std::unique_ptr<Process> worker;
    std::string why_not;
  };

  /// Starts one and waits until the file is imported.
  /// @param command  that of an ordinary worker.
  /// @throws Interrupted on a stop request; what Process throws.
  static Started start(const Command& command, Deadline deadline, const std::stop_token& stop);

  /// One that runs already and answers on `control`, which is owned from now on: a descendant of this process, since
  /// its forks become ours. @returns null if it does not say by the deadline that it is ready.
  /// @throws Interrupted on a stop request.
  static std::unique_ptr<ForkServer> adopt(int control, Deadline deadline, const std::stop_token& stop);

  ForkServer(const ForkServer&) = delete;
  ForkServer& operator=(const ForkServer&) = delete;
  ~ForkServer();

  /// A new session's process. @returns null if the server does not answer by the deadline; it is of no use any more
  /// then.
  /// @throws Interrupted.
  std::unique_ptr<Process> fork(Deadline deadline, const std::stop_token& stop);

 private:
  ForkServer(const Command& command, std::array<int, 2> sockets);
  explicit ForkServer(int control) : control_(control) {}

  std::string receive(Deadline deadline, const std::stop_token& stop) const;

  int control_;
  std::unique_ptr<Process> process_;  // null of one that was adopted
};

}  // namespace sextant
