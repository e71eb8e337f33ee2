// Encodings that turn no pair: channels are copied, and moved from one pairing's places to the other's where these
// differ. What is rounded to another dtype besides is cast.cpp's.

#include "lib/rope/standing.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

namespace sextant {
void carry(const Rope& encoding, const RopePass& pass, const ConstHeads& x, const Heads& y) {
  const bool keeps_places = pass.in == pass.out;
  if (keeps_places && x.data == y.data) return;
  Rope carried = encoding;
  carried.pairing = pass.in;
  carried.output_pairing = pass.out;
  const std::vector<Passthrough> channels = passthrough_channels(carried);
  const std::size_t element = size_of(x.dtype);
  const std::size_t bytes = static_cast<std::size_t>(x.head_dim) * element;
  share(x.batch * x.tokens, x.batch * x.tokens * x.heads * x.head_dim, [&](std::int64_t first, std::int64_t last) {
    std::vector<std::byte> before(keeps_places ? 0 : bytes);  // y may be x
    for (std::int64_t token = first; token < last; ++token) {
      for (std::int64_t head = 0; head < x.heads; ++head) {
        const std::byte* const from = head_at(x, token, head);
        std::byte* const to = head_at(y, token, head);
        if (keeps_places) {
          std::memcpy(to, from, bytes);
          continue;
        }
        std::memcpy(before.data(), from, bytes);
        for (const Passthrough& channel : channels) {
          std::memcpy(to + static_cast<std::size_t>(channel.output) * element,
                      before.data() + static_cast<std::size_t>(channel.input) * element, element);
        }
      }
    }
  });
}

}  // namespace sextant
