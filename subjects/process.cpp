#include "subjects/process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "subjects/preview.hpp"
#include "subjects/subject.hpp"

namespace sextant {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::size_t error_tail = std::size_t{16} << 10;

[[noreturn]] void throw_errno(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

struct Pipe {
  int read_end = -1;
  int write_end = -1;
  Pipe() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) throw_errno("pipe2");
    read_end = ends[0];
    write_end = ends[1];
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    if (read_end >= 0) close(read_end);
    if (write_end >= 0) close(write_end);
  }
};

int release(int& descriptor) { return std::exchange(descriptor, -1); }

void close_once(int& descriptor) {
  if (descriptor >= 0) close(release(descriptor));
}

// A write to a child that has ended raises SIGPIPE, whose default is to end us. Held back in this thread for the length
// of a write, and taken out of the queue if it came.
class SigpipeHeld {
 public:
  SigpipeHeld() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  SigpipeHeld(const SigpipeHeld&) = delete;
  SigpipeHeld& operator=(const SigpipeHeld&) = delete;
  ~SigpipeHeld() {
    const timespec now{};
    if (sigismember(&before_, SIGPIPE) == 0) sigtimedwait(&pipe_, nullptr, &now);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t pipe_{};
  sigset_t before_{};
};

// In the child, between fork and exec, in a process that may have had threads: system calls only.
[[noreturn]] void become(char* const* argv, const std::array<int, 3>& streams, int inherited, int report,
                         pid_t parent) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);  // the parent ended before prctl took effect
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  signal(SIGPIPE, SIG_DFL);
  for (int i = 0; i < 3; ++i) dup2(streams[static_cast<std::size_t>(i)], i);
  if (inherited >= 0) fcntl(inherited, F_SETFD, 0);
  execvp(argv[0], argv);
  const int error = errno;
  [[maybe_unused]] const ssize_t written = write(report, &error, sizeof error);
  _exit(127);
}

bool has_exited(pid_t pid) {
  siginfo_t info{};
  return waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid != 0;
}

// Waits up to `patience` for the child to end, leaving it to be reaped.
bool wait_for_end(pid_t pid, milliseconds patience) {
  const auto until = steady_clock::now() + patience;
  while (!has_exited(pid)) {
    if (steady_clock::now() >= until) return false;
    std::this_thread::sleep_for(milliseconds(2));
  }
  return true;
}

pid_t start_program(const Command& command, const std::array<int, 3>& streams) {
  std::vector<std::string> words = command.argv;
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  Pipe report;  // carries errno if exec fails, and closes if it does not
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) throw_errno("fork");
  if (child == 0) become(argv.data(), streams, command.inherited.value_or(-1), report.write_end, parent);
  setpgid(child, child);  // also here, so that the group exists whoever runs first
  close_once(report.write_end);
  int exec_error = 0;
  ssize_t got = 0;
  do {
    got = read(report.read_end, &exec_error, sizeof exec_error);
  } while (got < 0 && errno == EINTR);
  if (got == static_cast<ssize_t>(sizeof exec_error)) {
    waitpid(child, nullptr, 0);
    throw SubjectNameError(fmt::format("{}: {}", words.front(), std::strerror(exec_error)));
  }
  return child;
}

}  // namespace

Process::Process(const Command& command)
    : Process([&](const std::array<int, 3>& streams) { return start_program(command, streams); }) {}

Process::Process(const Start& start) {
  Pipe input;
  Pipe output;
  Pipe error;
  pid_ = start({input.read_end, output.write_end, error.write_end});
  input_ = release(input.write_end);
  output_ = release(output.read_end);
  error_ = release(error.read_end);
  for (const int descriptor : {input_, output_, error_}) fcntl(descriptor, F_SETFL, O_NONBLOCK);
  // A system may allow less, and then leaves the pipe as it is: 64 KiB, at which each side waits for the other 16 times
  // as often.
  for (const int descriptor : {input_, output_}) fcntl(descriptor, F_SETPIPE_SZ, 1 << 20);
}

Process::~Process() {
  // A worker that reads to the end of its input ends by itself; one that does not is not waited for long. The group is
  // killed before the child is reaped, while its number cannot have gone to another.
  close_once(input_);
  wait_for_end(pid_, milliseconds(300));
  kill(-pid_, SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  close_once(output_);
  close_once(error_);
}

void Process::drain_error_output() {
  // So many reads at most: a child that writes without end must not keep us from the deadline.
  std::array<char, 4096> buffer{};
  for (int reads = 0; reads < 16 && error_ >= 0; ++reads) {
    const ssize_t got = read(error_, buffer.data(), buffer.size());
    if (got < 0) return;
    if (got == 0) return close_once(error_);
    error_output_.append(buffer.data(), static_cast<std::size_t>(got));
    if (error_output_.size() > 2 * error_tail) error_output_.erase(0, error_output_.size() - error_tail);
  }
}

std::string Process::describe_end() {
  if (!wait_for_end(pid_, milliseconds(500))) return "closed its standard output and went on running";
  drain_error_output();
  siginfo_t info{};
  waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT);
  if (info.si_code == CLD_EXITED) return fmt::format("ended with exit status {}", info.si_status);
  return fmt::format("was killed by signal {} ({})", info.si_status, strsignal(info.si_status));
}

void Process::exchange(std::span<const std::byte> request, const Reader& reader, Deadline deadline,
                       const std::stop_token& stop) {
  class Copying final : public Sink {
   public:
    explicit Copying(const Reader& reader) : reader_(reader) {}
    std::span<std::byte> room() override { return buffer_; }
    bool filled(std::size_t bytes, std::span<const std::byte> beyond) override {
      const bool is_enough = reader_(std::span(buffer_).first(bytes));
      return beyond.empty() ? is_enough : reader_(beyond);
    }

   private:
    const Reader& reader_;
    std::array<std::byte, 65536> buffer_{};
  };
  Copying sink(reader);
  exchange(std::array{request}, sink, deadline, stop);
}

void Process::exchange(std::span<const std::span<const std::byte>> request, Sink& sink, Deadline deadline,
                       const std::stop_token& stop) {
  std::array<std::byte, 4096> beyond{};
  if (const ssize_t early = read(output_, beyond.data(), beyond.size()); early > 0) {
    throw SubjectFailure(FailureKind::protocol,
                         fmt::format("wrote to its standard output before it was asked: \"{}\"",
                                     preview(std::span(beyond).first(static_cast<std::size_t>(early)))));
  }

  std::vector<iovec> unsent;
  for (const std::span<const std::byte> part : request) {
    if (!part.empty()) unsent.push_back({const_cast<std::byte*>(part.data()), part.size()});  // writev only reads it
  }
  std::size_t next = 0;
  const auto sent = [&](std::size_t bytes) {
    for (; next < unsent.size() && bytes >= unsent[next].iov_len; ++next) bytes -= unsent[next].iov_len;
    if (bytes == 0) return;
    unsent[next].iov_base = static_cast<std::byte*>(unsent[next].iov_base) + bytes;
    unsent[next].iov_len -= bytes;
  };
  while (true) {
    if (stop.stop_requested()) throw Interrupted();
    const auto left = std::chrono::duration_cast<milliseconds>(deadline - steady_clock::now());
    if (left.count() <= 0) throw SubjectFailure(FailureKind::timed_out, "gave no answer within the time-out");
    // A negative descriptor is ignored by poll: nothing left to send, or a stream that was closed.
    std::array<pollfd, 3> streams{
        {{next < unsent.size() ? input_ : -1, POLLOUT, 0}, {output_, POLLIN, 0}, {error_, POLLIN, 0}}};
    const int ready = poll(streams.data(), streams.size(), static_cast<int>(std::min<std::int64_t>(left.count(), 50)));
    if (ready < 0 && errno != EINTR) throw_errno("poll");
    // The child may be gone while a process that it started holds its output open.
    if (ready == 0 && has_exited(pid_)) throw SubjectFailure(FailureKind::crashed, describe_end());
    if (streams[2].revents != 0) drain_error_output();
    if (streams[0].revents != 0) {
      const SigpipeHeld held;
      const auto parts = static_cast<int>(std::min<std::size_t>(unsent.size() - next, 16));
      const ssize_t put = writev(input_, &unsent[next], parts);
      if (put >= 0) {
        sent(static_cast<std::size_t>(put));
      } else if (errno != EAGAIN && errno != EINTR) {
        next = unsent.size();  // a reader that went away shows as the end of its output below, with the reason
      }
    }
    if (streams[1].revents != 0) {
      const std::span<std::byte> room = sink.room();
      const std::array<iovec, 2> parts{{{room.data(), room.size()}, {beyond.data(), beyond.size()}}};
      const ssize_t got = readv(output_, parts.data(), static_cast<int>(parts.size()));
      if (got < 0) continue;
      if (got == 0) throw SubjectFailure(FailureKind::crashed, describe_end());
      const std::size_t filled = std::min(static_cast<std::size_t>(got), room.size());
      if (sink.filled(filled, std::span(beyond).first(static_cast<std::size_t>(got) - filled)))
        return drain_error_output();
    }
  }
}

void adopt_descendants() { prctl(PR_SET_CHILD_SUBREAPER, 1); }

bool adopts_descendants() {
  int adopts = 0;
  return prctl(PR_GET_CHILD_SUBREAPER, &adopts) == 0 && adopts != 0;
}

void kill_descendants() {
  // Killing a child hands its children to us, so this ends when there are none left.
  while (true) {
    std::ifstream children(fmt::format("/proc/self/task/{}/children", gettid()));
    std::vector<pid_t> found;
    for (pid_t child = 0; children >> child;) found.push_back(child);
    if (found.empty()) return;
    for (const pid_t child : found) kill(child, SIGKILL);
    for (const pid_t child : found) waitpid(child, nullptr, 0);
  }
}

}  // namespace sextant
