#include <benchmark/benchmark.h>

#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "lib/kernels/heads_benchmark.hpp"
#include "lib/rope/cached_rotation_benchmark.hpp"
#include "lib/rope/rope.hpp"

// Rotating [tokens, heads, head_dim] in place beside scaling the same memory in place, and beside a rotation by tables
// as inference engines have it.

namespace sextant {
namespace {

constexpr HeadsShape beyond_cache{8192, 32, 128};
constexpr HeadsShape within_l2{64, 16, 128};  // 512 KiB of float32

Rope encoding_of(const HeadsShape& shape, Pairing pairing) {
  Rope encoding;
  encoding.head_dim = encoding.rotary_dim = shape.head_dim;
  encoding.pairing = encoding.output_pairing = pairing;
  return encoding;
}

std::vector<std::int64_t> consecutive(std::int64_t count) {
  std::vector<std::int64_t> positions(static_cast<std::size_t>(count));
  std::iota(positions.begin(), positions.end(), 0);
  return positions;
}

// "rope/half/float32".
std::string start_of_name(Pairing pairing, Dtype dtype) {
  return std::string("rope/") + (pairing == Pairing::half ? "half" : "interleaved") + "/" + std::string(name_of(dtype));
}

void register_encoder(Dtype dtype, Pairing pairing, Rounding rounding, const HeadsShape& shape) {
  const std::size_t bytes = static_cast<std::size_t>(shape.elements()) * size_of(dtype);
  register_paired({start_of_name(pairing, dtype) + "/" + (rounding == Rounding::certified ? "certified" : "fast") +
                       "/" + shape.text(),
                   Roofline::scale_inplace, bytes, [=](auto, auto) -> std::function<void()> {
                     // Memory of its own: the roofline scales its memory as float32, which makes noise of other dtypes.
                     auto memory = std::make_shared<std::vector<CacheLine>>(bytes / sizeof(CacheLine));
                     auto* const data = reinterpret_cast<std::byte*>(memory->data());
                     fill_ordinarily(dtype, {data, bytes});
                     const Heads view = shape.view(dtype, data);
                     return [encoder = RopeEncoder(encoding_of(shape, pairing)), positions = consecutive(shape.tokens),
                             view, rounding, memory] { encoder.apply(view, positions, rounding); };
                   }});
}

// Float32 keys into the slots of a cache of 16 bits, beside reading and writing as much.
void register_cast(Dtype dtype, Pairing pairing) {
  const HeadsShape shape = beyond_cache;
  const std::size_t bytes = static_cast<std::size_t>(shape.elements()) * size_of(dtype);
  register_paired({start_of_name(pairing, dtype) + "_of_float32/certified/" + shape.text(), Roofline::stream_narrowed,
                   bytes, [=](std::span<std::byte> cache, std::span<std::byte> keys) -> std::function<void()> {
                     fill_ordinarily(Dtype::float32, keys);
                     const Heads x = shape.view(Dtype::float32, keys.data());
                     const Heads slots = shape.view(dtype, cache.data());
                     return [encoder = RopeEncoder(encoding_of(shape, pairing)), positions = consecutive(shape.tokens),
                             x, slots] { encoder.apply(read_only(x), positions, slots); };
                   }});
}

// The same as inference engines do it.
void register_cached(Dtype dtype, Pairing pairing, const HeadsShape& shape) {
  const std::size_t bytes = static_cast<std::size_t>(shape.elements()) * size_of(dtype);
  register_paired({start_of_name(pairing, dtype) + "/cached/" + shape.text(), Roofline::scale_inplace, bytes,
                   [=](auto, auto) -> std::function<void()> {
                     const auto memory = std::make_shared<std::vector<CacheLine>>(bytes / sizeof(CacheLine));
                     auto* const data = reinterpret_cast<std::byte*>(memory->data());
                     fill_ordinarily(dtype, {data, bytes});
                     return [memory, turn = cached_rotation(dtype, pairing, shape, data)] { turn(); };
                   }});
}

const bool registered = [] {
  for (const Pairing pairing : {Pairing::half, Pairing::interleaved}) {
    for (const Dtype dtype : {Dtype::float32, Dtype::float16, Dtype::bfloat16, Dtype::float64}) {
      register_encoder(dtype, pairing, Rounding::certified, beyond_cache);
    }
    for (const Dtype dtype : {Dtype::float32, Dtype::float16, Dtype::bfloat16}) {
      register_encoder(dtype, pairing, Rounding::certified, within_l2);
      register_encoder(dtype, pairing, Rounding::fast, within_l2);
    }
    for (const Dtype dtype : {Dtype::float16, Dtype::bfloat16}) register_cast(dtype, pairing);
    for (const Dtype dtype : {Dtype::float32, Dtype::bfloat16}) {
      for (const HeadsShape& shape : {beyond_cache, within_l2}) register_cached(dtype, pairing, shape);
    }
  }
  return true;
}();

void set_up(benchmark::State& state) {
  for ([[maybe_unused]] auto _ : state) {
    const RopeEncoder encoder(encoding_of(beyond_cache, Pairing::half));
    benchmark::DoNotOptimize(&encoder);
  }
}
BENCHMARK(set_up)->Name("rope/set_up/128")->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace sextant
