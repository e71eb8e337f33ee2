#pragma once

#include <sys/types.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace sextant {

/// A program to start: argv[0] is looked up on the PATH; the environment is inherited.
struct Command {
  std::vector<std::string> argv;
  std::optional<int> inherited =
      std::nullopt;  ///< a descriptor beside the standard streams that the program keeps, under its number
};

using Deadline = std::chrono::steady_clock::time_point;

/// A child process with pipes on its standard streams, in a process group of its own.
///
/// Written on POSIX calls: Boost.Process 1.74 opens its pipes without close-on-exec, so that two workers started at
/// once hold each other's ends open, and has no deadline on a read. The child is killed when the thread that started it
/// ends (PR_SET_PDEATHSIG), so an object stays with its thread; its destructor kills the whole group and reaps the
/// child.
class Process {
 public:
  /// @throws SubjectNameError if the program cannot be executed; std::system_error if no process can be made.
  explicit Process(const Command& command);

  /// A child that `start` makes: it is given the child's ends of standard input, output and error, and returns the id
  /// of a child of this process, or of one that has become so (adopt_descendants), in a process group of its own.
  /// @throws what `start` throws; std::system_error.
  using Start = std::function<pid_t(const std::array<int, 3>& streams)>;
  explicit Process(const Start& start);
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process();

  /// Takes what the child wrote to its standard output. @returns whether it has read enough.
  using Reader = std::function<bool(std::span<const std::byte>)>;

  /// Takes it without a copy: into memory of its own, which the pipe is read into.
  class Sink {
   public:
    virtual ~Sink() = default;
    /// Where the next bytes go; not empty.
    virtual std::span<std::byte> room() = 0;
    /// As many bytes of room() were filled, and `beyond` bytes came behind them. @returns whether it has read enough.
    virtual bool filled(std::size_t bytes, std::span<const std::byte> beyond) = 0;
  };

  /// Writes the parts of `request`, one after the other, to the child's standard input while reading its standard
  /// output, until `sink` has enough. Standard error is drained all the while.
  /// @throws SubjectFailure `crashed` if the child ends first, `timed_out` past the deadline, `protocol` if it wrote
  /// something before it was asked; Interrupted on a stop request; whatever `sink` throws.
  void exchange(std::span<const std::span<const std::byte>> request, Sink& sink, Deadline deadline,
                const std::stop_token& stop);

  /// The same with a reader.
  void exchange(std::span<const std::byte> request, const Reader& reader, Deadline deadline,
                const std::stop_token& stop);

  /// Takes what the child has written to its standard error since.
  void hear() { drain_error_output(); }

  /// The last 16 KiB of what the child wrote to its standard error.
  const std::string& error_output() const { return error_output_; }

 private:
  void drain_error_output();
  std::string describe_end();

  pid_t pid_ = -1;
  int input_ = -1;
  int output_ = -1;
  int error_ = -1;
  std::string error_output_;
};

/// Makes this process the one that orphaned descendants fall to, so that `kill_descendants` finds a worker's children
/// that left its process group. Call once, first thing in main.
void adopt_descendants();

/// Whether adopt_descendants was called.
bool adopts_descendants();

/// Kills and reaps every child of this process that is still there, and theirs. Call when no Process is alive.
void kill_descendants();

}  // namespace sextant
