// Views of memory in any layout, and what is refused.

#include <sextant/sextant.hpp>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "expect.hpp"

int main() {
  sextant::Rope encoding;
  encoding.head_dim = encoding.rotary_dim = 2;
  const sextant::RopeEncoder encoder(encoding);
  // [heads, tokens, head_dim]: heads come before tokens here.
  std::vector<float> x{1, 0, 1, 0, 1, 0, 1, 0};
  sextant::Heads view{sextant::Dtype::float32, reinterpret_cast<std::byte*>(x.data()), 1, 2, 2, 2, 0, 2, 4};
  const std::vector<std::int64_t> positions{0, 1};
  encoder.apply(view, positions);
  expect(x[0] == 1 && x[2] == 0.5403023059F && x[4] == 1 && x[6] == 0.5403023059F, "both heads turn alike");
  bool refused = false;
  view.token_stride = 1;
  try {
    encoder.apply(view, positions);
  } catch (const std::invalid_argument&) {
    refused = true;
  }
  expect(refused, "vectors that share elements");
  return failures();
}
