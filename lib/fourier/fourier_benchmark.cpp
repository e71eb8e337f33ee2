#include <memory>
#include <string>
#include <vector>

#include "lib/fourier/fourier.hpp"
#include "lib/kernels/roofline_benchmark.hpp"

// Points in three dimensions, beside the speed of filling memory.

namespace sextant {
namespace {

void add(Dtype dtype, std::int64_t count, std::int64_t bands) {
  Fourier encoding;
  encoding.axes = 3;
  encoding.bands = bands;
  encoding.highest = static_cast<double>(bands - 1);
  encoding.identity = Identity::first;
  encoding.positions = {0x1p-20, Dtype::float32};
  const std::int64_t columns = width(encoding);
  const std::string name = "fourier/" + std::string(name_of(dtype)) + "/powers_of_two/certified/" +
                           std::to_string(count) + "x" + std::to_string(columns);
  const std::size_t bytes = static_cast<std::size_t>(count * columns) * size_of(dtype);
  register_paired(
      {name, Roofline::stream_store, bytes, [=](std::span<std::byte> memory, auto) -> std::function<void()> {
         const auto encoder = std::make_shared<FourierEncoder>(encoding);
         std::vector<std::int64_t> positions(static_cast<std::size_t>(3 * count));
         for (std::size_t i = 0; i < positions.size(); ++i)
           positions[i] = static_cast<std::int64_t>(i * 7919 % (1 << 22));
         return [=] { encoder->encode(positions, {dtype, memory.data(), count, columns, columns}); };
       }});
}

const int registered = [] {
  add(Dtype::float32, 65536, 10);
  add(Dtype::bfloat16, 65536, 10);
  return 0;
}();

}  // namespace
}  // namespace sextant
