#include "lib/rope_nd/rope_nd.hpp"

#include <algorithm>

#include "lib/numeric/checks.hpp"
#include "lib/numeric/parallel.hpp"

namespace sextant {
namespace {

const RopeNd& checked(const RopeNd& encoding) {
  Spec spec;
  spec.encoding = encoding;
  validate(spec);
  return encoding;
}

// For each axis 255 for each channel of its pairs, 0 for the others.
std::vector<std::vector<unsigned char>> channels_of_axes(const RopeNd& encoding) {
  const Rope rope = along_diagonal(encoding);
  const std::vector<std::int64_t> axis = axis_of_pairs(encoding);
  const std::vector<unsigned char> none(static_cast<std::size_t>(encoding.head_dim), 0);
  std::vector<std::vector<unsigned char>> marks(static_cast<std::size_t>(axes(encoding)), none);
  for (std::int64_t pair = 0; pair < pairs(encoding); ++pair) {
    const Channels both = channels_of_pair(rope, rope.pairing, pair);
    std::vector<unsigned char>& own = marks[static_cast<std::size_t>(axis[static_cast<std::size_t>(pair)])];
    own[static_cast<std::size_t>(both.first)] = own[static_cast<std::size_t>(both.second)] = 255;
  }
  return marks;
}

// The mark of each channel, once for each byte of an element.
std::vector<unsigned char> spread(const std::vector<unsigned char>& marks, std::size_t element) {
  std::vector<unsigned char> bytes;
  bytes.reserve(marks.size() * element);
  for (const unsigned char mark : marks) bytes.insert(bytes.end(), element, mark);
  return bytes;
}

// The bytes of `source` where the mask is 255, those of `out` elsewhere. By bytes and without branches, which compilers make vectors of.
void blend(std::span<const unsigned char> mask, const std::byte* source, std::byte* out) {
  const std::size_t size = mask.size();
  const unsigned char* __restrict own = mask.data();
  const auto* __restrict from = reinterpret_cast<const unsigned char*>(source);
  auto* __restrict to = reinterpret_cast<unsigned char*>(out);
  for (std::size_t i = 0; i < size; ++i) to[i] = static_cast<unsigned char>((from[i] & own[i]) | (to[i] & ~own[i]));
}

}  // namespace

RopeNdEncoder::RopeNdEncoder(const RopeNd& encoding) : encoding_(checked(encoding)), channels_of_axes_(channels_of_axes(encoding)), rope_(along_diagonal(encoding)) {}

// Each axis turns whole vectors as the rotary encoding along its coordinate would, some tokens at a time so that they stay in the cache, and of these
// the channels of its own pairs are taken.
void RopeNdEncoder::turn(const char* function, Sense sense, const Tensor& x, std::span<const std::int64_t> positions,
                         std::span<std::byte> out) const {
  check_heads(function, x, encoding_.head_dim);
  const std::int64_t tokens = x.shape[0] * x.shape[1];
  check_count(function, positions, axes(encoding_) * tokens);
  check_range(function, positions);
  check_bytes(function, out, x.elements(), x.dtype);
  check_apart(function, x.data, out);
  const std::int64_t heads = x.shape[2];
  if (tokens == 0 || heads == 0) return;
  const std::int64_t head_dim = encoding_.head_dim;
  const std::size_t element = size_of(x.dtype);
  const std::size_t head_bytes = static_cast<std::size_t>(head_dim) * element;
  const std::size_t token_bytes = static_cast<std::size_t>(heads) * head_bytes;
  const std::int64_t chunk = std::max<std::int64_t>(1, (std::int64_t{1} << 16) / static_cast<std::int64_t>(token_bytes));
  std::vector<std::vector<unsigned char>> masks;
  for (const std::vector<unsigned char>& marks : channels_of_axes_) masks.push_back(spread(marks, element));
  parallel_for((tokens + chunk - 1) / chunk, [&](std::int64_t i) {
    const std::int64_t first = i * chunk;
    const std::int64_t count = std::min(tokens - first, chunk);
    const std::size_t start = static_cast<std::size_t>(first) * token_bytes;
    Tensor turned = Tensor::zeros(x.dtype, {1, count, heads, head_dim});
    const ConstHeads from{x.dtype, x.data.data() + start, 1, count, heads, head_dim, 0, heads * head_dim, head_dim};
    const Heads to{x.dtype, turned.data.data(), 1, count, heads, head_dim, 0, heads * head_dim, head_dim};
    for (std::size_t axis = 0; axis < masks.size(); ++axis) {
      const auto coordinates = positions.subspan(static_cast<std::size_t>(static_cast<std::int64_t>(axis) * tokens + first), static_cast<std::size_t>(count));
      sense == Sense::counterclockwise ? rope_.apply(from, coordinates, to) : rope_.backward(from, coordinates, to);
      for (std::int64_t head = 0; head < count * heads; ++head) {
        const std::size_t offset = static_cast<std::size_t>(head) * head_bytes;
        const bool stays = coordinates[static_cast<std::size_t>(head / heads)] == 0;  // whatever the bits
        const std::byte* source = (stays ? x.data.data() + start : turned.data.data()) + offset;
        blend(masks[axis], source, out.data() + start + offset);
      }
    }
  });
}

void RopeNdEncoder::rotate(const Tensor& x, std::span<const std::int64_t> positions, std::span<std::byte> out) const {
  turn("RopeNdEncoder::rotate", Sense::counterclockwise, x, positions, out);
}

Tensor RopeNdEncoder::rotate(const Tensor& x, std::span<const std::int64_t> positions) const {
  Tensor y = Tensor::zeros(x.dtype, x.shape);
  rotate(x, positions, y.data);
  return y;
}

Tensor RopeNdEncoder::backward(const Tensor& grad, std::span<const std::int64_t> positions) const {
  Tensor grad_x = Tensor::zeros(grad.dtype, grad.shape);
  turn("RopeNdEncoder::backward", Sense::clockwise, grad, positions, grad_x.data);
  return grad_x;
}

}  // namespace sextant
