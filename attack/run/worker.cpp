#include "attack/run/worker.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <utility>

namespace sextant::attack {
namespace {

constexpr int silence_limit_ms = 600'000;

bool write_all(int file, const void* data, std::size_t bytes) {
  const auto* from = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t count = ::write(file, from, bytes);
    if (count <= 0) return false;
    from += count;
    bytes -= static_cast<std::size_t>(count);
  }
  return true;
}

bool read_all(int file, void* data, std::size_t bytes, int limit_ms) {
  auto* to = static_cast<char*>(data);
  while (bytes > 0) {
    pollfd waiting{file, POLLIN, 0};
    if (::poll(&waiting, 1, limit_ms) <= 0) return false;
    const ssize_t count = ::read(file, to, bytes);
    if (count <= 0) return false;
    to += count;
    bytes -= static_cast<std::size_t>(count);
  }
  return true;
}

template <class Text>
bool write_counted(int file, const Text& text) {
  const std::uint64_t count = text.size();
  return write_all(file, &count, sizeof count) &&
         write_all(file, text.data(), text.size() * sizeof(typename Text::value_type));
}

template <class Text>
std::optional<Text> read_counted(int file, int limit_ms) {
  std::uint64_t count = 0;
  if (!read_all(file, &count, sizeof count, limit_ms)) return std::nullopt;
  Text text(count, {});
  if (!read_all(file, text.data(), count * sizeof(typename Text::value_type), limit_ms)) return std::nullopt;
  return text;
}

}  // namespace

Worker::Worker(std::string target) : target_(std::move(target)) { start(); }
Worker::~Worker() { stop(); }
Worker::Worker(Worker&& other) noexcept
    : target_(std::move(other.target_)),
      process_(std::exchange(other.process_, -1)),
      requests_(std::exchange(other.requests_, -1)),
      answers_(std::exchange(other.answers_, -1)) {}

void Worker::start() {
  std::array<int, 2> requests{};
  std::array<int, 2> answers{};
  // Other workers must not hold these open.
  if (::pipe2(requests.data(), O_CLOEXEC) != 0 || ::pipe2(answers.data(), O_CLOEXEC) != 0)
    throw std::runtime_error("sextant-attack: no pipe to a worker");
  process_ = ::fork();
  if (process_ < 0) throw std::runtime_error("sextant-attack: a worker cannot be started");
  if (process_ == 0) {
    ::dup2(requests[0], STDIN_FILENO);
    ::dup2(answers[1], STDOUT_FILENO);
    ::setenv("SEXTANT_FORCE_TARGET", target_.c_str(), 1);
    ::setenv("OMP_WAIT_POLICY", "passive", 1);  // many workers share the processor's cores
    ::execl("/proc/self/exe", "sextant-attack", "--worker", nullptr);
    ::_exit(127);
  }
  ::close(requests[0]);
  ::close(answers[1]);
  requests_ = requests[1];
  answers_ = answers[0];
}

void Worker::stop() {
  if (process_ < 0) return;
  ::close(requests_);
  ::close(answers_);
  ::kill(process_, SIGKILL);
  ::waitpid(process_, nullptr, 0);
  process_ = -1;
}

void Worker::ask(const std::string& token) { write_counted(requests_, token); }

Answer Worker::answer() {
  auto failure = read_counted<std::string>(answers_, silence_limit_ms);
  auto elements = failure ? read_counted<std::vector<Bits>>(answers_, silence_limit_ms) : std::nullopt;
  if (elements) return {*std::move(elements), *std::move(failure)};
  const bool gone = ::waitpid(process_, nullptr, WNOHANG) != 0;
  if (gone) {
    ::close(requests_);
    ::close(answers_);
    process_ = -1;
  } else {
    stop();
  }
  start();
  return {{}, gone ? "the call ended its process" : "the call did not end within ten minutes"};
}

int serve() {
  constexpr int forever = -1;
  while (const auto token = read_counted<std::string>(STDIN_FILENO, forever)) {
    Answer answer;
    try {
      answer = execute(case_of(*token));
    } catch (const std::exception& error) {
      answer.failure = error.what();
    }
    if (!write_counted(STDOUT_FILENO, answer.failure) || !write_counted(STDOUT_FILENO, answer.elements)) return 1;
  }
  return 0;
}

}  // namespace sextant::attack
