#include <benchmark/benchmark.h>

#include <Eigen/Core>
#include <cmath>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "lib/kernels/heads_benchmark.hpp"
#include "lib/rope/rope.hpp"

// Rotating [tokens, heads, head_dim] in place beside scaling the same memory in place, and the same as people write it.

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

void register_encoder(Dtype dtype, Pairing pairing, Rounding rounding, const HeadsShape& shape) {
  const std::size_t bytes = static_cast<std::size_t>(shape.elements()) * size_of(dtype);
  register_paired({std::string("rope/") + (pairing == Pairing::half ? "half" : "interleaved") + "/" +
                       std::string(name_of(dtype)) + "/" + (rounding == Rounding::certified ? "certified" : "fast") +
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
  register_paired({std::string("rope/") + (pairing == Pairing::half ? "half" : "interleaved") + "/" +
                       std::string(name_of(dtype)) + "_of_float32/certified/" + shape.text(),
                   Roofline::stream_narrowed, bytes,
                   [=](std::span<std::byte> cache, std::span<std::byte> keys) -> std::function<void()> {
                     fill_ordinarily(Dtype::float32, keys);
                     const Heads x = shape.view(Dtype::float32, keys.data());
                     const Heads slots = shape.view(dtype, cache.data());
                     return [encoder = RopeEncoder(encoding_of(shape, pairing)), positions = consecutive(shape.tokens),
                             x, slots] { encoder.apply(read_only(x), positions, slots); };
                   }});
}

// cos and sin of a token, float32 angles by the library: what peers share.
struct PlainRow {
  std::vector<float> cos;
  std::vector<float> sin;
};
void fill_plain_row(std::int64_t position, PlainRow& row, std::int64_t pairs) {
  for (std::int64_t i = 0; i < pairs; ++i) {
    const float angle =
        static_cast<float>(position) * std::pow(10000.0F, -static_cast<float>(i) / static_cast<float>(pairs));
    row.cos[static_cast<std::size_t>(i)] = std::cos(angle);
    row.sin[static_cast<std::size_t>(i)] = std::sin(angle);
  }
}

template <class TurnHead>
void register_peer(const char* name, TurnHead turn_head) {
  const HeadsShape shape = beyond_cache;
  const std::size_t bytes = static_cast<std::size_t>(shape.elements()) * sizeof(float);
  register_paired({std::string("rope/half/float32/") + name + "/" + shape.text(), Roofline::scale_inplace, bytes,
                   // NOLINTNEXTLINE(misc-unused-parameters): clang-tidy 14 does not see its use in a template
                   [=](std::span<std::byte> memory, auto) -> std::function<void()> {
                     fill_ordinarily(Dtype::float32, memory.first(bytes));
                     auto* const data = reinterpret_cast<float*>(memory.data());
                     return [=] {
                       const std::int64_t pairs = shape.head_dim / 2;
#pragma omp parallel
                       {
                         PlainRow row{std::vector<float>(static_cast<std::size_t>(pairs)),
                                      std::vector<float>(static_cast<std::size_t>(pairs))};
#pragma omp for schedule(static)
                         for (std::int64_t token = 0; token < shape.tokens; ++token) {
                           fill_plain_row(token, row, pairs);
                           for (std::int64_t head = 0; head < shape.heads; ++head) {
                             turn_head(data + (token * shape.heads + head) * shape.head_dim, row, pairs);
                           }
                         }
                       }
                     };
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
  }
  register_peer("scalar", [](float* x, const PlainRow& row, std::int64_t pairs) {
    for (std::int64_t i = 0; i < pairs; ++i) {
      const float x0 = x[i];
      const float x1 = x[i + pairs];
      const float c = row.cos[static_cast<std::size_t>(i)];
      const float s = row.sin[static_cast<std::size_t>(i)];
      x[i] = x0 * c - x1 * s;
      x[i + pairs] = x0 * s + x1 * c;
    }
  });
  register_peer("eigen", [](float* x, const PlainRow& row, std::int64_t pairs) {
    const Eigen::Map<const Eigen::ArrayXf> c(row.cos.data(), pairs);
    const Eigen::Map<const Eigen::ArrayXf> s(row.sin.data(), pairs);
    Eigen::Map<Eigen::ArrayXf> x0(x, pairs);
    Eigen::Map<Eigen::ArrayXf> x1(x + pairs, pairs);
    const Eigen::ArrayXf y0 = x0 * c - x1 * s;
    x1 = x0 * s + x1 * c;
    x0 = y0;
  });
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
