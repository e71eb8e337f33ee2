#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "lib/kernels/roofline_benchmark.hpp"
#include "lib/relative_bias/relative_bias.hpp"

// Square matrices of T5's 8 heads beside the speed of filling memory; and the gradient by the weight, beside the speed
// of reading what it is made from.

namespace sextant {
namespace {

void add(Dtype dtype) {
  constexpr std::int64_t heads = 8;
  constexpr std::int64_t n = 2048;
  const std::size_t bytes = static_cast<std::size_t>(heads * n * n) * size_of(dtype);
  const std::string name = "relative_bias/" + std::string(name_of(dtype)) + "/bidirectional/certified/8x2048x2048";
  register_paired(
      {name, Roofline::stream_store, bytes, [=](std::span<std::byte> memory, auto) -> std::function<void()> {
         const auto encoder = std::make_shared<RelativeBiasEncoder>(RelativeBias{32, 128, true});
         const auto weight = std::make_shared<Tensor>(Tensor::zeros(dtype, {32, heads}));
         for (std::int64_t i = 0; i < weight->elements(); ++i) weight->set(i, static_cast<double>(i) / 64);
         std::vector<std::int64_t> positions(n);
         std::iota(positions.begin(), positions.end(), 0);
         return [=] { encoder->bias(positions, positions, *weight, memory.first(bytes)); };
       }});
}

void add_gradient(Dtype dtype) {
  constexpr std::int64_t heads = 8;
  constexpr std::int64_t n = 1024;
  const std::size_t bytes = static_cast<std::size_t>(heads * n * n) * size_of(dtype);
  const std::string name = "relative_bias/" + std::string(name_of(dtype)) + "/gradient/certified/8x1024x1024";
  register_paired({name, Roofline::scale_inplace, bytes, [=](auto, auto) -> std::function<void()> {
                     const auto encoder = std::make_shared<RelativeBiasEncoder>(RelativeBias{32, 128, true});
                     const auto grad = std::make_shared<Tensor>(Tensor::zeros(dtype, {heads, n, n}));
                     for (std::int64_t i = 0; i < grad->elements(); ++i)
                       grad->set(i, static_cast<double>(i % 1021 - 510) / 64);
                     std::vector<std::int64_t> positions(n);
                     std::iota(positions.begin(), positions.end(), 0);
                     return [=] { benchmark::DoNotOptimize(encoder->grad_weight(positions, positions, *grad)); };
                   }});
}

const int registered = [] {
  add(Dtype::float32);
  add(Dtype::bfloat16);
  add_gradient(Dtype::float32);
  return 0;
}();

}  // namespace
}  // namespace sextant
