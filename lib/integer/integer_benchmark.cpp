#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "lib/integer/integer.hpp"
#include "lib/kernels/roofline_benchmark.hpp"

// Tables of consecutive positions beside the speed of filling memory.

namespace sextant {
namespace {

void add(Dtype dtype, bool normalize) {
  constexpr std::int64_t rows = 262144;
  constexpr std::int64_t dim = 128;
  const std::string name =
      "integer/" + std::string(name_of(dtype)) + (normalize ? "/normalised" : "/counted") + "/certified/262144x128";
  const std::size_t bytes = static_cast<std::size_t>(rows * dim) * size_of(dtype);
  register_paired(
      {name, Roofline::stream_store, bytes, [=](std::span<std::byte> memory, auto) -> std::function<void()> {
         const auto encoder = std::make_shared<IntegerEncoder>(Integer{dim, normalize}, rows);
         std::vector<std::int64_t> positions(rows);
         std::iota(positions.begin(), positions.end(), 0);
         return [=] { encoder->encode(positions, {dtype, memory.data(), rows, dim, dim}); };
       }});
}

const int registered = [] {
  add(Dtype::float32, false);
  add(Dtype::float32, true);
  add(Dtype::bfloat16, false);
  return 0;
}();

}  // namespace
}  // namespace sextant
