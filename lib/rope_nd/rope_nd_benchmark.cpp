#include <string>
#include <vector>

#include "lib/kernels/heads_benchmark.hpp"
#include "lib/rope_nd/rope_nd.hpp"

// Qwen2-VL's heads on a film of 32 x 32 patches, from one array into another and in place.

namespace sextant {
namespace {

constexpr HeadsShape beyond_cache{8192, 16, 128};
constexpr HeadsShape within_l2{64, 16, 128};

std::vector<std::int64_t> positions(std::int64_t tokens) {
  std::vector<std::int64_t> list(static_cast<std::size_t>(3 * tokens));
  for (std::int64_t token = 0; token < tokens; ++token) {
    list[static_cast<std::size_t>(token)] = 100 + token / 1024;
    list[static_cast<std::size_t>(tokens + token)] = 100 + token / 32 % 32;
    list[static_cast<std::size_t>(2 * tokens + token)] = 100 + token % 32;
  }
  return list;
}

void add(Dtype dtype, SectionOrder order, const HeadsShape& shape) {
  const std::string name =
      "rope_nd/" + std::string(name_of(dtype)) + (order == SectionOrder::blocked ? "/blocked" : "/interleaved");
  register_turned(name, dtype, shape, [=]() -> std::function<void(const ConstHeads&, const Heads&)> {
    RopeNd encoding;
    encoding.rope.head_dim = encoding.rope.rotary_dim = shape.head_dim;
    encoding.sections =
        order == SectionOrder::blocked ? std::vector<std::int64_t>{16, 24, 24} : std::vector<std::int64_t>{24, 20, 20};
    encoding.section_order = order;
    return [encoder = RopeNdEncoder(encoding), list = positions(shape.tokens)](const ConstHeads& x, const Heads& y) {
      encoder.apply(x, list, y);
    };
  });
}

const int registered = [] {
  add(Dtype::float32, SectionOrder::blocked, beyond_cache);
  add(Dtype::float32, SectionOrder::interleaved, beyond_cache);
  add(Dtype::bfloat16, SectionOrder::blocked, beyond_cache);
  add(Dtype::float32, SectionOrder::blocked, within_l2);
  add(Dtype::bfloat16, SectionOrder::blocked, within_l2);
  return 0;
}();

}  // namespace
}  // namespace sextant
