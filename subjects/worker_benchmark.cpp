// How fast the protocol moves tensors: a call with so many MiB that a worker returns as they came, in bytes per second
// each way, one way after the other, beside what a pipe between two threads does there and back and memcpy does twice
// with as many bytes in the same program.

#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "subjects/python.hpp"
#include "subjects/worker.hpp"

namespace sextant {
namespace {

std::int64_t bytes_of(const benchmark::State& state) { return state.range(0) << 20; }

void sizes(benchmark::internal::Benchmark* made) {
  made->ArgName("MiB")->Arg(2)->Arg(16)->Arg(64)->UseRealTime()->Unit(benchmark::kMillisecond);
}

// There and back.
void say_rate(benchmark::State& state) { state.SetBytesProcessed(2 * state.iterations() * bytes_of(state)); }

Spec rope() { return parse_spec(R"({"encoding":"rope","head_dim":128,"max_position":1048576})"); }

void call(benchmark::State& state, const Subject& subject) {
  constexpr std::int64_t head_dim = 128;
  const std::int64_t tokens = bytes_of(state) / static_cast<std::int64_t>(sizeof(float)) / head_dim;
  const std::unique_ptr<Session> session = subject.open(rope());
  Tensors inputs;
  inputs["x"] = Tensor::zeros(Dtype::float32, {1, tokens, 1, head_dim});
  inputs["positions"] = Tensor::zeros(Dtype::int64, {1, tokens});
  std::memset(inputs["x"].data.data(), 0x3F, static_cast<std::size_t>(bytes_of(state)));
  session->describe();
  if (session->call("rotate", inputs).at("y").data != inputs.at("x").data)
    return state.SkipWithError("the reply is another tensor");
  for (auto _ : state) session->call("rotate", inputs);
  say_rate(state);
}

void protocol_exec(benchmark::State& state) {
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe");
  const std::string echo = program.parent_path() / "sextant-echo";
  call(state, *worker_subject("echo", {{echo}}, {}));
}
BENCHMARK(protocol_exec)->Apply(sizes);

void protocol_python(benchmark::State& state) {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("sextant_echo_" + std::to_string(getpid()) + ".py");
  std::ofstream(file) << "def rotate(x, positions, spec):\n    return x\n";
  call(state, *worker_subject("echo", python_command(file, std::nullopt), {}));
  std::filesystem::remove(file);
}
BENCHMARK(protocol_python)->Apply(sizes);

// As many bytes there and, when they are there, back: what a worker that touches nothing would do.
void protocol_pipe(benchmark::State& state) {
  std::vector<std::byte> one(static_cast<std::size_t>(bytes_of(state)), std::byte{0x3F});
  std::vector<std::byte> other(one.size());
  const auto write_all = [](int file, const std::vector<std::byte>& bytes) {
    for (std::size_t sent = 0; sent < bytes.size();) {
      const ssize_t put = write(file, bytes.data() + sent, bytes.size() - sent);
      if (put <= 0) return;
      sent += static_cast<std::size_t>(put);
    }
  };
  const auto read_all = [](int file, std::vector<std::byte>& bytes) {
    for (std::size_t taken = 0; taken < bytes.size();) {
      const ssize_t got = read(file, bytes.data() + taken, bytes.size() - taken);
      if (got <= 0) return;
      taken += static_cast<std::size_t>(got);
    }
  };
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return state.SkipWithError("no pipe");
  fcntl(ends[0], F_SETPIPE_SZ, 1 << 20);
  for (auto _ : state) {
    for (int way = 0; way < 2; ++way) {
      std::jthread reader([&] { read_all(ends[0], other); });
      write_all(ends[1], one);
    }
  }
  for (const int end : ends) close(end);
  say_rate(state);
}
BENCHMARK(protocol_pipe)->Apply(sizes);

void protocol_memcpy(benchmark::State& state) {
  const std::vector<std::byte> one(static_cast<std::size_t>(bytes_of(state)), std::byte{0x3F});
  std::vector<std::byte> other(one.size());
  for (auto _ : state) {
    for (int way = 0; way < 2; ++way) std::memcpy(other.data(), one.data(), one.size());
    benchmark::ClobberMemory();
  }
  say_rate(state);
}
BENCHMARK(protocol_memcpy)->Apply(sizes);

}  // namespace
}  // namespace sextant
