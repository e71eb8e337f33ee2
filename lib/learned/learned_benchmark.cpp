#include <memory>
#include <string>
#include <vector>

#include "lib/kernels/roofline_benchmark.hpp"
#include "lib/learned/learned.hpp"

// Lookups in a table of GPT-2's size, which stays in the cache, beside the speed of filling memory; and the gradient by
// it, beside the speed of reading what it is made from.

namespace sextant {
namespace {

constexpr std::int64_t tokens = 65536;
constexpr std::int64_t dim = 768;
constexpr Learned encoding{dim, 1024};

std::vector<std::int64_t> positions() {
  std::vector<std::int64_t> list(tokens);
  for (std::int64_t i = 0; i < tokens; ++i) list[static_cast<std::size_t>(i)] = i % encoding.max_positions;
  return list;
}

Tensor values(Dtype dtype, std::int64_t rows) {
  Tensor tensor = Tensor::zeros(dtype, {rows, dim});
  for (std::int64_t i = 0; i < tensor.elements(); ++i) tensor.set(i, static_cast<double>(i % 1021 - 510) / 64);
  return tensor;
}

void add_lookup(Dtype dtype) {
  const std::string name = "learned/" + std::string(name_of(dtype)) + "/lookup/certified/65536x768";
  const std::size_t bytes = static_cast<std::size_t>(tokens * dim) * size_of(dtype);
  register_paired(
      {name, Roofline::stream_store, bytes, [=](std::span<std::byte> memory, auto) -> std::function<void()> {
         const auto weight = std::make_shared<Tensor>(values(dtype, encoding.max_positions));
         return [=, list = positions()] {
           LearnedEncoder(encoding).encode(list, *weight, {dtype, memory.data(), tokens, dim, dim});
         };
       }});
}

void add_gradient(Dtype dtype) {
  constexpr std::int64_t rows = 4096;
  const std::string name = "learned/" + std::string(name_of(dtype)) + "/gradient/certified/4096x768";
  const std::size_t bytes = static_cast<std::size_t>(rows * dim) * size_of(dtype);
  register_paired({name, Roofline::scale_inplace, bytes, [=](auto, auto) -> std::function<void()> {
                     const auto grad = std::make_shared<Tensor>(values(dtype, rows));
                     std::vector<std::int64_t> list = positions();
                     list.resize(rows);
                     return [=] { benchmark::DoNotOptimize(LearnedEncoder(encoding).grad_weight(list, *grad)); };
                   }});
}

const int registered = [] {
  add_lookup(Dtype::float32);
  add_lookup(Dtype::bfloat16);
  add_gradient(Dtype::float32);
  return 0;
}();

}  // namespace
}  // namespace sextant
