#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "lib/alibi/alibi.hpp"
#include "lib/kernels/roofline_benchmark.hpp"

// Square matrices of 12 heads, two thirds of which have a slope that is a power of two, beside the speed of filling
// memory.

namespace sextant {
namespace {

void add(Dtype dtype, Mask mask) {
  constexpr std::int64_t heads = 12;
  constexpr std::int64_t n = 2048;
  const std::size_t bytes = static_cast<std::size_t>(heads * n * n) * size_of(dtype);
  const std::string name = "alibi/" + std::string(name_of(dtype)) + (mask == Mask::causal ? "/causal" : "/symmetric") +
                           "/certified/12x2048x2048";
  register_paired(
      {name, Roofline::stream_store, bytes, [=](std::span<std::byte> memory, auto) -> std::function<void()> {
         const auto encoder = std::make_shared<AlibiEncoder>(Alibi{heads, mask, AlibiForm::distance});
         std::vector<std::int64_t> positions(n);
         std::iota(positions.begin(), positions.end(), 0);
         return [=] { encoder->bias(positions, positions, dtype, memory.first(bytes)); };
       }});
}

const int registered = [] {
  add(Dtype::float32, Mask::causal);
  add(Dtype::float32, Mask::symmetric);
  for (const Dtype dtype : {Dtype::float16, Dtype::bfloat16, Dtype::float64}) add(dtype, Mask::causal);
  return 0;
}();

}  // namespace
}  // namespace sextant
