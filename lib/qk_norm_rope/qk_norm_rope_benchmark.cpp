#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "lib/kernels/heads_benchmark.hpp"
#include "lib/qk_norm_rope/qk_norm_rope.hpp"

// Queries of consecutive positions, from one array into another and in place: as often as they are normalized in place,
// they stay of one size.

namespace sextant {
namespace {

constexpr HeadsShape beyond_cache{8192, 16, 128};
constexpr HeadsShape within_l2{64, 16, 128};

void add(Dtype dtype, const HeadsShape& shape) {
  register_turned(
      "qk_norm_rope/" + std::string(name_of(dtype)) + "/half", dtype, shape,
      [=]() -> std::function<void(const ConstHeads&, const Heads&)> {
        QkNormRope encoding;
        encoding.rope.head_dim = encoding.rope.rotary_dim = shape.head_dim;
        const auto encoder = std::make_shared<QkNormRopeEncoder>(encoding);
        const auto weight = std::make_shared<Tensor>(Tensor::zeros(dtype, {shape.head_dim}));
        for (std::int64_t i = 0; i < shape.head_dim; ++i) weight->set(i, 1 + static_cast<double>(i % 16) / 64);
        std::vector<std::int64_t> positions(static_cast<std::size_t>(shape.tokens));
        std::iota(positions.begin(), positions.end(), 1000);
        return [=](const ConstHeads& x, const Heads& y) { encoder->apply(x, *weight, positions, y); };
      },
      "bounded");
}

const int registered = [] {
  for (const HeadsShape& shape : {beyond_cache, within_l2}) {
    add(Dtype::float32, shape);
    add(Dtype::bfloat16, shape);
  }
  return 0;
}();

}  // namespace
}  // namespace sextant
