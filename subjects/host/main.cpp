// sextant-plugin-host LIBRARY.so: serves a library's table of operations (sextant_subject.h) over the worker protocol,
// so that what the library does wrong ends a process that is not the audit's.

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <barrier>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "subjects/blob_stream.hpp"
#include "subjects/host/faults.hpp"
#include "subjects/host/library.hpp"
#include "subjects/host/perform.hpp"

namespace sextant::host {
namespace {

constexpr std::uint64_t any_size = std::uint64_t{1} << 40;

// The protocol's streams, on descriptors of their own: what a library prints goes to standard error.
struct Streams {
  int requests;
  int replies;
};

Streams take_streams() {
  const Streams streams{fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3), fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)};
  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  dup2(nothing, STDIN_FILENO);
  close(nothing);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  return streams;
}

// A sanitizer's own tables are larger than any machine.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool is_instrumented = true;
#else
constexpr bool is_instrumented = false;
#endif

// Half of the machine's memory for data, so that a library that asks for more and more fails by itself, not by the
// system's choice of whom to end. No images of memory are left behind.
void limit_memory() {
  const auto half = static_cast<rlim_t>(sysconf(_SC_PHYS_PAGES)) / 2 * static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
  rlimit data{};
  getrlimit(RLIMIT_DATA, &data);
  data.rlim_cur = data.rlim_cur == RLIM_INFINITY ? half : std::min(data.rlim_cur, half);
  if (!is_instrumented) setrlimit(RLIMIT_DATA, &data);
  const rlimit none{};
  setrlimit(RLIMIT_CORE, &none);
}

std::string text_of(const Blob& request, const char* key) {
  const auto found = request.metadata.find(key);
  return found == request.metadata.end() ? "" : found->second;
}

bool write_reply(int descriptor, const Blob& reply) { return write_blob(descriptor, reply.metadata, reply.tensors); }

// Performs requests in the threads that they name, which begin together.
std::vector<Blob> perform_at_once(const SextantSubject& subject, const std::vector<Blob>& requests,
                                  std::map<std::string, Arena>& arenas) {
  std::map<std::string, std::vector<std::size_t>> of_threads;
  for (std::size_t i = 0; i < requests.size(); ++i) of_threads[text_of(requests[i], "thread")].push_back(i);
  for (const auto& [thread, own] : of_threads) arenas[thread];
  std::vector<Blob> replies(requests.size());
  std::barrier beginning(std::ssize(of_threads));
  std::vector<std::jthread> threads;
  for (const auto& [thread, own] : of_threads) {
    threads.emplace_back([&, &arena = arenas.at(thread), &list = own] {
      beginning.arrive_and_wait();
      for (const std::size_t i : list) replies[i] = perform(subject, requests[i], arena, Waiting::several);
    });
  }
  threads.clear();
  return replies;
}

int serve(const SextantSubject& subject, Streams streams) {
  std::map<std::string, Arena> arenas;
  while (auto request = read_blob(streams.requests, any_size)) {
    if (text_of(*request, "op") == "describe") {
      if (!write_blob(streams.replies, description_of(subject, text_of(*request, "id")), {})) return 1;
      continue;
    }
    const std::string at_once = text_of(*request, "at_once");
    if (at_once.empty()) {
      if (!write_reply(streams.replies, perform(subject, *request, arenas[""], Waiting::one))) return 1;
      continue;
    }
    std::size_t count = 0;
    std::from_chars(at_once.data(), at_once.data() + at_once.size(), count);
    std::vector<Blob> requests{std::move(*request)};
    while (requests.size() < count) {
      auto next = read_blob(streams.requests, any_size);
      if (!next) return 1;
      requests.push_back(std::move(*next));
    }
    for (const Blob& reply : perform_at_once(subject, requests, arenas)) {
      if (!write_reply(streams.replies, reply)) return 1;
    }
  }
  return 0;
}

int run(const char* path) {
  const Streams streams = take_streams();
  limit_memory();
  tell_faults(streams.replies);
  SextantSubject subject{};
  try {
    subject = load_subject(path);
  } catch (const NoSubject& no) {
    const auto request = read_blob(streams.requests, any_size);
    if (request)
      write_blob(streams.replies, {{"id", text_of(*request, "id")}, {"status", "unusable"}, {"message", no.what()}},
                 {});
    return 1;
  }
  return serve(subject, streams);
}

}  // namespace
}  // namespace sextant::host

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: sextant-plugin-host LIBRARY.so\n");
    return 2;
  }
  try {
    return sextant::host::run(argv[1]);
  } catch (const std::exception& error) {
    fmt::print(stderr, "sextant-plugin-host: {}\n", error.what());
    return 1;
  }
}
