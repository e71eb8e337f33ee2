#include <numeric>
#include <string>
#include <vector>

#include "lib/kernels/heads_benchmark.hpp"
#include "lib/xpos/xpos.hpp"

// Queries and keys of consecutive positions in turn, from one array into another and in place, where the powers of the
// one undo those of the other.

namespace sextant {
namespace {

constexpr HeadsShape beyond_cache{8192, 16, 128};
constexpr HeadsShape within_l2{64, 16, 128};

void add(Dtype dtype, const HeadsShape& shape) {
  register_turned("xpos/" + std::string(name_of(dtype)) + "/interleaved", dtype, shape,
                  [=]() -> std::function<void(const ConstHeads&, const Heads&)> {
                    Xpos encoding;
                    encoding.rope.head_dim = encoding.rope.rotary_dim = shape.head_dim;
                    encoding.rope.pairing = encoding.rope.output_pairing = Pairing::interleaved;
                    std::vector<std::int64_t> positions(static_cast<std::size_t>(shape.tokens));
                    std::iota(positions.begin(), positions.end(), 1000);
                    const XposEncoder queries(encoding);
                    encoding.role = Role::key;
                    const XposEncoder keys(encoding);
                    return [=, calls = 0](const ConstHeads& x, const Heads& y) mutable {
                      (calls++ % 2 == 0 ? queries : keys).apply(x, positions, y);
                    };
                  });
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
