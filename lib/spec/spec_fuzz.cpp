#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "lib/spec/spec.hpp"

// Any text is a spec or a SpecError; a spec is what its own JSON says.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const sextant::Spec spec = sextant::parse_spec({reinterpret_cast<const char*>(data), size});
    if (sextant::to_json(sextant::parse_spec(sextant::to_json(spec))) != sextant::to_json(spec)) std::abort();
  } catch (const sextant::SpecError&) {
  }
  return 0;
}
