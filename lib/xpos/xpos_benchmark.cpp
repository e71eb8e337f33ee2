#include <memory>
#include <string>
#include <vector>

#include "lib/kernels/roofline_benchmark.hpp"
#include "lib/xpos/xpos.hpp"

// Queries of consecutive positions, from one array into another, beside the speed of scaling an array of the same size
// in place.

namespace sextant {
namespace {

void add(Dtype dtype) {
  constexpr std::int64_t tokens = 8192;
  constexpr std::int64_t heads = 16;
  constexpr std::int64_t head_dim = 128;
  const std::size_t bytes = static_cast<std::size_t>(tokens * heads * head_dim) * size_of(dtype);
  const std::string name = "xpos/" + std::string(name_of(dtype)) + "/interleaved/certified/8192x16x128";
  register_paired({name, Roofline::scale_inplace, bytes, [=](std::span<std::byte> memory) -> std::function<void()> {
                     Xpos encoding;
                     encoding.rope.head_dim = encoding.rope.rotary_dim = head_dim;
                     encoding.rope.pairing = encoding.rope.output_pairing = Pairing::interleaved;
                     const auto encoder = std::make_shared<XposEncoder>(encoding);
                     const auto x = std::make_shared<Tensor>(Tensor::zeros(dtype, {1, tokens, heads, head_dim}));
                     for (std::int64_t i = 0; i < x->elements(); ++i)
                       x->set(i, static_cast<double>(i % 1021 - 510) / 64);
                     std::vector<std::int64_t> positions;
                     for (std::int64_t i = 0; i < tokens; ++i) positions.push_back(1000 + i);
                     return [=] { encoder->rotate(*x, positions, memory.first(x->data.size())); };
                   }});
}

const int registered = [] {
  add(Dtype::float32);
  add(Dtype::bfloat16);
  return 0;
}();

}  // namespace
}  // namespace sextant
