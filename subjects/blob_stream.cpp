#include "subjects/blob_stream.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <span>

namespace sextant {
namespace {

bool write_all(int descriptor, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t put = write(descriptor, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
  return true;
}

}  // namespace

std::optional<Blob> read_blob(int descriptor, std::uint64_t max_data_bytes) {
  SafetensorsReader reader(max_data_bytes);
  while (!reader.complete()) {
    const std::span<std::byte> room = reader.room();
    const ssize_t got = read(descriptor, room.data(), room.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0 && reader.empty()) return std::nullopt;
    if (got <= 0) throw SafetensorsError("the input ends within a blob");
    reader.filled(static_cast<std::size_t>(got));
  }
  return reader.blob();
}

bool write_blob(int descriptor, const std::map<std::string, std::string>& metadata, const Tensors& tensors) {
  const std::string header = safetensors_header(tensors, metadata);
  if (!write_all(descriptor, std::as_bytes(std::span(header)))) return false;
  for (const auto& [name, tensor] : tensors) {
    if (!write_all(descriptor, tensor.data)) return false;
  }
  return true;
}

}  // namespace sextant
