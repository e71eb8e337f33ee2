#include "subjects/safetensors.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

// Any bytes are a blob, the beginning of one, or a SafetensorsError, however they are cut into pieces; a blob that is
// written is read again. The first byte says how long the pieces are.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t piece = std::size_t{data[0]} + 1;
  std::span<const std::byte> rest = std::as_bytes(std::span(data + 1, size - 1));
  constexpr std::uint64_t most = std::uint64_t{1} << 16;
  try {
    sextant::SafetensorsReader reader(most);
    while (!rest.empty() && !reader.complete()) {
      const auto next = rest.first(std::min(piece, rest.size()));
      const std::size_t taken = reader.feed(next);
      if (taken < next.size() && !reader.complete()) std::abort();
      rest = rest.subspan(taken);
    }
    if (!reader.complete()) return 0;
    const sextant::Blob blob = reader.blob();
    sextant::SafetensorsReader again(most);
    again.feed(sextant::write_safetensors(blob));
    const sextant::Blob other = again.blob();
    if (other.metadata != blob.metadata || other.tensors.size() != blob.tensors.size()) std::abort();
  } catch (const sextant::SafetensorsError&) {
  }
  return 0;
}
