// A worker that returns x as y and does nothing else: what worker_benchmark.cpp measures the protocol by.

#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "subjects/safetensors.hpp"

namespace sextant {
namespace {

bool read_blob(SafetensorsReader& reader) {
  while (!reader.complete()) {
    const std::span<std::byte> room = reader.room();
    const ssize_t got = read(STDIN_FILENO, room.data(), room.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    reader.filled(static_cast<std::size_t>(got));
  }
  return true;
}

bool write_all(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t put = write(STDOUT_FILENO, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
  return true;
}

int echo() {
  while (true) {
    SafetensorsReader reader(std::uint64_t{1} << 40);
    if (!read_blob(reader)) return reader.empty() ? 0 : 1;
    Blob request = reader.blob();
    Tensors reply;
    if (request.metadata["op"] == "rotate") reply["y"] = std::move(request.tensors["x"]);
    const std::string header = safetensors_header(reply, {{"id", request.metadata["id"]}, {"status", "ok"}});
    if (!write_all(std::as_bytes(std::span(header)))) return 1;
    for (const auto& [name, tensor] : reply) {
      if (!write_all(tensor.data)) return 1;
    }
  }
}

}  // namespace
}  // namespace sextant

int main() { return sextant::echo(); }
