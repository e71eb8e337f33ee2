#include <memory>
#include <string>
#include <vector>

#include "lib/kernels/roofline_benchmark.hpp"
#include "lib/sinusoidal_nd/sinusoidal_nd.hpp"

// Whole films, the last axis fastest, beside the speed of filling memory.

namespace sextant {
namespace {

void add(Dtype dtype, std::int64_t frames, std::int64_t side, std::int64_t dim) {
  const std::int64_t count = frames * side * side;
  const std::string shape =
      std::to_string(frames) + "x" + std::to_string(side) + "x" + std::to_string(side) + "x" + std::to_string(dim);
  const std::string name = "sinusoidal_nd/" + std::string(name_of(dtype)) + "/interleaved/certified/" + shape;
  const std::size_t bytes = static_cast<std::size_t>(count * dim) * size_of(dtype);
  register_paired(
      {name, Roofline::stream_store, bytes, [=](std::span<std::byte> memory, auto) -> std::function<void()> {
         SinusoidalNd encoding;
         encoding.dim = dim;
         encoding.extents = {frames, side, side};
         encoding.channels = {dim / 2, dim / 4, dim / 4};
         const auto encoder = std::make_shared<SinusoidalNdEncoder>(encoding);
         std::vector<std::int64_t> positions(static_cast<std::size_t>(3 * count));
         for (std::int64_t i = 0; i < count; ++i) {
           positions[static_cast<std::size_t>(i)] = i / side / side;
           positions[static_cast<std::size_t>(count + i)] = i / side % side;
           positions[static_cast<std::size_t>(2 * count + i)] = i % side;
         }
         return [=] { encoder->encode(positions, {dtype, memory.data(), count, dim, dim}); };
       }});
}

const int registered = [] {
  add(Dtype::float32, 16, 64, 768);
  add(Dtype::bfloat16, 16, 64, 768);
  return 0;
}();

}  // namespace
}  // namespace sextant
