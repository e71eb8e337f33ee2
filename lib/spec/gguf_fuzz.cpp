#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>

#include "lib/spec/gguf.hpp"

// Any file is a list of claims or a SpecError.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::istringstream file(std::string(reinterpret_cast<const char*>(data), size));
  try {
    if (sextant::claims_of_gguf(file).empty()) std::abort();
  } catch (const sextant::SpecError&) {
  }
  return 0;
}
