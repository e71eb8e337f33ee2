#include "properties/gen/vectors.hpp"

#include <utility>

#include "properties/gen/values.hpp"

namespace sextant::gen {

Tensor vectors(const Rope& encoding, Dtype dtype, const Extents& extents, std::int64_t fill) {
  std::vector<std::int64_t> shape{extents.batch, extents.tokens, extents.heads, encoding.head_dim};
  if (fill != 0) return values(dtype, std::move(shape), fill);
  Tensor x = Tensor::zeros(dtype, std::move(shape));
  const std::vector<Passthrough> untouched = passthrough_channels(encoding);
  for (std::int64_t start = 0; start < x.elements(); start += encoding.head_dim) {
    for (std::int64_t pair = 0; pair < pairs(encoding); ++pair) {
      x.set(start + channels_of_pair(encoding, encoding.pairing, pair).first, 1);
    }
    for (const Passthrough& channel : untouched) x.set(start + channel.input, 1);
  }
  return x;
}

std::vector<std::int64_t> positions(const PositionRange& range, std::int64_t first, const Extents& extents,
                                    Order order) {
  const std::int64_t width = range.last - range.first;
  std::vector<std::int64_t> values;
  for (std::int64_t row = 0; row < extents.batch; ++row) {
    for (std::int64_t token = 0; token < extents.tokens; ++token) {
      values.push_back(range.first + (first - range.first + steps(order, row, token, extents.tokens)) % width);
    }
  }
  return values;
}

}  // namespace sextant::gen
