#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "reports/json.hpp"
#include "reports/read_json.hpp"

// Any text is a report or a ReadError; a report that is written is read again, and is the same.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const std::string written = sextant::write_json(sextant::read_json({reinterpret_cast<const char*>(data), size}));
    if (sextant::write_json(sextant::read_json(written)) != written) std::abort();
  } catch (const sextant::ReadError&) {
  }
  return 0;
}
