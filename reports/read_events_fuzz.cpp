#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "reports/read_events.hpp"
#include "reports/read_json.hpp"

// Any text is a log, of whose whole lines no more is told than there is, or a ReadError.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto run = sextant::read_events({reinterpret_cast<const char*>(data), size});
    if (run && run->size > size) std::abort();
  } catch (const sextant::ReadError&) {
  }
  return 0;
}
