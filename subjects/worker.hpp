#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>

#include "subjects/process.hpp"
#include "subjects/subject.hpp"

namespace sextant {

/// What a session's first answer waits for, as its failure tells it.
struct Beginning {
  /// "importing rope.py".
  std::string doing = "starting";
  /// Asked where the process ended before its first answer: what mends it, if that came before `doing`; else empty.
  std::function<std::string()> earlier_fix = [] { return std::string(); };
};

/// How long a worker may take for one answer (its start counts towards the first), and when to give up early.
struct WorkerLimits {
  std::chrono::milliseconds timeout{60'000};
  std::stop_token stop;
  /// Told, once for a subject and from any thread, what a person should know of how its sessions come to be.
  std::function<void(const std::string&)> note = [](const std::string&) {};
  Beginning beginning = {};
};

/// `limits` for a subject whose first answer waits for this.
inline WorkerLimits while_doing(WorkerLimits limits, std::string what) {
  limits.beginning.doing = std::move(what);
  return limits;
}

/// How a session's process comes to be: by starting the program, or, for Python workers, as a fork of one that has
/// imported the subject's file (fork_server.hpp), where that is safe.
enum class SessionStart { program, fork };

/// A program that speaks the protocol: one safetensors blob on its standard input per request, one on its standard
/// output per reply, in order (docs/protocol.md). Each session is a process of its own.
/// @param name  what the report calls it.
std::unique_ptr<Subject> worker_subject(std::string name, Command command, WorkerLimits limits,
                                        SessionStart start = SessionStart::program);

/// A subject that a fork server holds already, a descendant of this process that answers on the socket `control`
/// (fork_server.hpp): each session is a fork of it. Owns the socket.
std::unique_ptr<Subject> live_subject(std::string name, int control, WorkerLimits limits);

/// A subject of processes that `start` makes, one for each session.
/// @throws what `start` throws, when a session is opened.
using StartProcess = std::function<std::unique_ptr<Process>()>;
std::unique_ptr<Subject> worker_subject(std::string name, StartProcess start, WorkerLimits limits);

}  // namespace sextant
