#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "lib/binary/binary.hpp"
#include "lib/kernels/roofline_benchmark.hpp"

// Tables of consecutive positions beside the speed of filling memory.

namespace sextant {
namespace {

void add(Dtype dtype, std::int64_t rows, std::int64_t dim) {
  const std::string name =
      "binary/" + std::string(name_of(dtype)) + "/digits/certified/" + std::to_string(rows) + "x" + std::to_string(dim);
  const std::size_t bytes = static_cast<std::size_t>(rows * dim) * size_of(dtype);
  register_paired(
      {name, Roofline::stream_store, bytes, [=](std::span<std::byte> memory, auto) -> std::function<void()> {
         const auto encoder = std::make_shared<BinaryEncoder>(Binary{dim, false});
         std::vector<std::int64_t> positions(static_cast<std::size_t>(rows));
         std::iota(positions.begin(), positions.end(), 0);
         return [=] { encoder->encode(positions, {dtype, memory.data(), rows, dim, dim}); };
       }});
}

const int registered = [] {
  add(Dtype::float32, 1048576, 20);
  add(Dtype::float32, 524288, 63);
  add(Dtype::bfloat16, 524288, 63);
  return 0;
}();

}  // namespace
}  // namespace sextant
