#include "lib/spec/hf_config.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

// Any text is a list of claims or a SpecError. A claim is a spec, as its JSON says, or has the reason why it is none.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    for (const sextant::ConfigClaim& claim :
         sextant::claims_of_hf_config({reinterpret_cast<const char*>(data), size})) {
      if (!claim.spec && claim.refusal.empty()) std::abort();
      if (!claim.spec) continue;
      const std::string written = sextant::to_json(*claim.spec);
      if (sextant::to_json(sextant::parse_spec(written)) != written) std::abort();
    }
  } catch (const sextant::SpecError&) {
  }
  return 0;
}
