#include <benchmark/benchmark.h>

#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "lib/kernels/line_writer.hpp"
#include "lib/kernels/roofline_benchmark.hpp"
#include "lib/window_bias/window_bias.hpp"

// All pairs of tokens of a window, beside the speed of filling memory: one beyond the caches, and Swin's of 7 x 7; and
// the gradient by the weight, beside the speed of reading what it is made from.

namespace sextant {
namespace {

void add(Dtype dtype, std::int64_t extent, std::int64_t heads) {
  WindowBias encoding;
  encoding.window = {extent, extent};
  const std::int64_t tokens = extent * extent;
  const std::size_t bytes = static_cast<std::size_t>(heads * tokens * tokens) * size_of(dtype);
  const std::string side = std::to_string(tokens);
  const std::string name = "window_bias/" + std::string(name_of(dtype)) + "/window/certified/" + std::to_string(heads) +
                           "x" + side + "x" + side;
  const bool is_large = caching_of(static_cast<std::int64_t>(bytes)) == Caching::streamed;
  register_paired({name, is_large ? Roofline::stream_store : Roofline::store, bytes,
                   [=](std::span<std::byte> memory, auto) -> std::function<void()> {
                     const auto encoder = std::make_shared<WindowBiasEncoder>(encoding);
                     const auto weight =
                         std::make_shared<Tensor>(Tensor::zeros(dtype, {(2 * extent - 1) * (2 * extent - 1), heads}));
                     for (std::int64_t i = 0; i < weight->elements(); ++i) weight->set(i, static_cast<double>(i % 64));
                     std::vector<std::int64_t> positions(static_cast<std::size_t>(tokens));
                     std::iota(positions.begin(), positions.end(), 0);
                     return [=] { encoder->bias(positions, positions, *weight, memory.first(bytes)); };
                   }});
}

// 1024 x 1024 pairs of a head.
void add_gradient(Dtype dtype) {
  constexpr std::int64_t heads = 8;
  WindowBias encoding;
  encoding.window = {32, 32};
  const std::int64_t tokens = position_count(encoding);
  const std::size_t bytes = static_cast<std::size_t>(heads * tokens * tokens) * size_of(dtype);
  const std::string name = "window_bias/" + std::string(name_of(dtype)) + "/gradient/certified/8x1024x1024";
  register_paired({name, Roofline::scale_inplace, bytes, [=](auto, auto) -> std::function<void()> {
                     const auto encoder = std::make_shared<WindowBiasEncoder>(encoding);
                     const auto grad = std::make_shared<Tensor>(Tensor::zeros(dtype, {heads, tokens, tokens}));
                     for (std::int64_t i = 0; i < grad->elements(); ++i)
                       grad->set(i, static_cast<double>(i % 1021 - 510) / 64);
                     std::vector<std::int64_t> positions(static_cast<std::size_t>(tokens));
                     std::iota(positions.begin(), positions.end(), 0);
                     return [=] { benchmark::DoNotOptimize(encoder->grad_weight(positions, positions, *grad)); };
                   }});
}

const int registered = [] {
  for (const Dtype dtype : {Dtype::float32, Dtype::bfloat16}) {
    add(dtype, 32, 16);
    add(dtype, 7, 32);
  }
  add_gradient(Dtype::float32);
  return 0;
}();

}  // namespace
}  // namespace sextant
