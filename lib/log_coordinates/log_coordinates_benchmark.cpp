#include <memory>
#include <string>
#include <vector>

#include "lib/kernels/roofline_benchmark.hpp"
#include "lib/log_coordinates/log_coordinates.hpp"

// The table of a window's offsets, of every pair of its places, beside the speed of memory: offsets are of eight bytes,
// so that float32 reads twice what it writes, and 16 bits four times.

namespace sextant {
namespace {

void add(Dtype dtype, std::int64_t side) {
  const std::int64_t places = side * side;
  const std::int64_t count = places * places;
  const std::string name = "log_coordinates/" + std::string(name_of(dtype)) + "/certified/" + std::to_string(side) +
                           "x" + std::to_string(side);
  const std::size_t bytes = static_cast<std::size_t>(2 * count) * size_of(dtype);
  register_paired(
      {name, Roofline::stream_narrowed, bytes, [=](std::span<std::byte> memory, auto) -> std::function<void()> {
         const auto encoder = std::make_shared<LogCoordinatesEncoder>(LogCoordinates{{side, side}, {}});
         std::vector<std::int64_t> offsets(static_cast<std::size_t>(2 * count));
         for (std::int64_t i = 0; i < count; ++i) {
           offsets[static_cast<std::size_t>(i)] = i / places / side - i % places / side;
           offsets[static_cast<std::size_t>(count + i)] = i / places % side - i % side;
         }
         return [=] { encoder->encode(offsets, {dtype, memory.data(), count, 2, 2}); };
       }});
}

const int registered = [] {
  add(Dtype::float32, 32);
  add(Dtype::bfloat16, 32);
  return 0;
}();

}  // namespace
}  // namespace sextant
