// A worker that returns x as y and does nothing else: what worker_benchmark.cpp measures the protocol by.

#include <unistd.h>

#include <cstdint>
#include <utility>

#include "subjects/blob_stream.hpp"

int main() {
  using namespace sextant;
  try {
    while (auto request = read_blob(STDIN_FILENO, std::uint64_t{1} << 40)) {
      Tensors reply;
      if (request->metadata["op"] == "rotate") reply["y"] = std::move(request->tensors["x"]);
      if (!write_blob(STDOUT_FILENO, {{"id", request->metadata["id"]}, {"status", "ok"}}, reply)) return 1;
    }
  } catch (const SafetensorsError&) {
    return 1;
  }
}
