#include <memory>
#include <string>
#include <vector>

#include "lib/kernels/roofline_benchmark.hpp"
#include "lib/sinusoidal_2d/sinusoidal_2d.hpp"

// Whole grids, row by row, beside the speed of filling memory.

namespace sextant {
namespace {

void add(Dtype dtype, std::int64_t side, std::int64_t dim) {
  const std::int64_t count = side * side;
  const std::string shape = std::to_string(side) + "x" + std::to_string(side) + "x" + std::to_string(dim);
  const std::string name = "sinusoidal_2d/" + std::string(name_of(dtype)) + "/interleaved/certified/" + shape;
  const std::size_t bytes = static_cast<std::size_t>(count * dim) * size_of(dtype);
  register_paired(
      {name, Roofline::stream_store, bytes, [=](std::span<std::byte> memory, auto) -> std::function<void()> {
         Sinusoidal2d encoding;
         encoding.dim = dim;
         encoding.height = encoding.width = side;
         const auto encoder = std::make_shared<Sinusoidal2dEncoder>(encoding);
         std::vector<std::int64_t> positions(static_cast<std::size_t>(2 * count));
         for (std::int64_t i = 0; i < count; ++i) {
           positions[static_cast<std::size_t>(i)] = i / side;
           positions[static_cast<std::size_t>(count + i)] = i % side;
         }
         return [=] { encoder->encode(positions, {dtype, memory.data(), count, dim, dim}); };
       }});
}

const int registered = [] {
  add(Dtype::float32, 256, 768);
  add(Dtype::bfloat16, 256, 768);
  return 0;
}();

}  // namespace
}  // namespace sextant
