// Vectors turned one pair at a time by GeometricRotations: for powers that the vectors do not take, since they grow too
// fast or their exponents are not told exactly. Slow, and right by geometric_rotations.cpp.

#include "lib/xpos/rotate_pairs.hpp"

#include <cmath>
#include <cstring>

#include "lib/kernels/parallel.hpp"
#include "lib/numeric/canonical_nan.hpp"

namespace sextant {
namespace {

double turned(GeometricRotations::Turn& turn, Dtype dtype, double a, double b) {
  const bool zeros = a == 0 && b == 0;  // whatever the factor: it may be infinite in float64
  if (!zeros && std::isfinite(a) && std::isfinite(b)) return turn.combine(dtype, a, b);
  return canonical(turn.unrounded(a, b));
}

// One head of one token.
class Head {
 public:
  Head(Dtype dtype, const std::byte* x, std::byte* out) : dtype_(dtype), x_(x), out_(out) {}

  void copy(std::int64_t output, std::int64_t input) const {
    std::memcpy(out_ + offset(output), x_ + offset(input), size_of(dtype_));
  }

  void turn(GeometricRotations::Turn& turn, Sense sense, const Channels& from, const Channels& to) const {
    if (turn.is_identity()) {
      copy(to.first, from.first);
      copy(to.second, from.second);
      return;
    }
    const TurnedPair y =
        turned_pair(turn, sense, dtype_, load(dtype_, x_ + offset(from.first)), load(dtype_, x_ + offset(from.second)));
    store(dtype_, y.first, out_ + offset(to.first));
    store(dtype_, y.second, out_ + offset(to.second));
  }

 private:
  std::size_t offset(std::int64_t channel) const { return static_cast<std::size_t>(channel) * size_of(dtype_); }

  Dtype dtype_;
  const std::byte* x_;
  std::byte* out_;
};

}  // namespace

TurnedPair turned_pair(GeometricRotations::Turn& turn, Sense sense, Dtype dtype, double first, double second) {
  const double sign = sense == Sense::counterclockwise ? 1 : -1;
  return {turned(turn, dtype, first, -sign * second), turned(turn, dtype, second, sign * first)};
}

void rotate_pairs(const PairedChannels& channels, Sense sense, const Tensor& x, std::int64_t tokens, std::int64_t heads,
                  const std::function<GeometricRotations::Turn(std::int64_t token, std::int64_t pair)>& turn_of,
                  std::span<std::byte> out) {
  if (tokens == 0 || heads == 0) return;
  const std::size_t head_bytes = x.data.size() / static_cast<std::size_t>(tokens * heads);
  parallel_for(tokens, x.elements(), [&](std::int64_t token) {
    const auto head_of = [&](std::int64_t head) {
      const std::size_t start = static_cast<std::size_t>(token * heads + head) * head_bytes;
      return Head(x.dtype, x.data.data() + start, out.data() + start);
    };
    for (std::size_t pair = 0; pair < channels.from.size(); ++pair) {
      GeometricRotations::Turn turn = turn_of(token, static_cast<std::int64_t>(pair));
      for (std::int64_t head = 0; head < heads; ++head)
        head_of(head).turn(turn, sense, channels.from[pair], channels.to[pair]);
    }
    for (std::int64_t head = 0; head < heads; ++head) {
      for (const Passthrough& channel : channels.unturned) head_of(head).copy(channel.output, channel.input);
    }
  });
}

}  // namespace sextant
