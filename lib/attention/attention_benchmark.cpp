#include <benchmark/benchmark.h>
#include <omp.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <variant>
#include <vector>

#include "lib/attention/attention.hpp"
#include "lib/attention/eigen_products_benchmark.hpp"
#include "lib/kernels/parallel.hpp"
#include "lib/kernels/roofline_ratio_benchmark.hpp"
#include "lib/spec/of.hpp"

// Attention beside the matrix products that it cannot do without: q k^T and weights v for each head, whole, by Eigen
// alone, heads shared among threads, in float32 whatever the case. `of_eigen_product` is the rate of attention over
// that of the products, by the medians of both in the same case; a window leaves out most of both, but the rates count
// all.

namespace sextant {
namespace {

struct Size {
  std::int64_t heads;
  std::int64_t n;
  std::int64_t head_dim;
};

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Tensor uniform(const Size& size, Dtype dtype, unsigned seed) {
  Tensor tensor = Tensor::zeros(dtype, {1, size.heads, size.n, size.head_dim});
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> value(-1, 1);
  for (std::int64_t i = 0; i < tensor.elements(); ++i) tensor.set(i, value(random));
  return tensor;
}

// The two products of every head, in memory quadratic in n.
double seconds_of_products(const Size& size) {
  const auto count = static_cast<std::size_t>(size.n * size.head_dim);
  std::vector<float> vectors(count);
  std::iota(vectors.begin(), vectors.end(), 0.0F);
  return seconds_of([&] {
    parallel_for(size.heads, size.heads * size.n * size.n, [&](std::int64_t) {
      std::vector<float> scores(static_cast<std::size_t>(size.n * size.n));
      std::vector<float> out(count);
      eigen_products(vectors.data(), size.n, size.head_dim, scores.data(), out.data());
      benchmark::DoNotOptimize(out.data());
    });
  });
}

/// What attention does besides the products.
struct Case {
  const char* name;
  Dtype dtype = Dtype::float32;
  std::optional<PositionEncoding> position = std::nullopt;
  std::optional<std::int64_t> window = std::nullopt;
};

void attention_beside_products(benchmark::State& state, const Size& size, const Case& what) {
  const Attention encoding{.num_heads = size.heads,
                           .num_kv_heads = size.heads,
                           .head_dim = size.head_dim,
                           .position = what.position,
                           .window = what.window};
  const DotProductAttention attention(encoding);
  omp_set_num_threads(omp_get_num_procs());  // benchmarks that ran before leave another number
  const Tensor q = uniform(size, what.dtype, 1);
  const Tensor k = uniform(size, what.dtype, 2);
  const Tensor v = uniform(size, what.dtype, 3);
  std::vector<std::int64_t> positions(what.position ? static_cast<std::size_t>(size.n) : 0);
  std::iota(positions.begin(), positions.end(), 0);
  Tensor weight;
  if (const auto* looked_up = carried<RelativeBias>(encoding))
    weight = Tensor::zeros(what.dtype, {looked_up->num_buckets, size.heads});
  const AttentionInputs inputs{q, k, v, positions, weight.shape.empty() ? nullptr : &weight};
  std::vector<double> own;
  std::vector<double> products;
  for ([[maybe_unused]] auto _ : state) {
    // In turns, so that what else the machine does meets both.
    const double seconds = seconds_of([&] { benchmark::DoNotOptimize(attention.attend(inputs)); });
    products.push_back(seconds_of_products(size));
    own.push_back(seconds);
    state.SetIterationTime(seconds);
  }
  const double operations = 4.0 * static_cast<double>(size.heads * size.n * size.n * size.head_dim);
  state.counters["of_eigen_product"] = median(products) / median(own);
  state.counters["gflops"] = operations / median(own) * 1e-9;
}

std::vector<Case> cases(const Size& size) {
  Alibi alibi;
  alibi.num_heads = size.heads;
  alibi.mask = Mask::symmetric;
  const RelativeBias relative_bias;
  Rope rope;
  rope.head_dim = rope.rotary_dim = size.head_dim;
  return {{.name = "float32/plain"},
          {.name = "bfloat16/plain", .dtype = Dtype::bfloat16},
          {.name = "float32/alibi", .position = alibi},
          {.name = "float32/relative_bias", .position = relative_bias},
          {.name = "float32/rope", .position = rope},
          {.name = "bfloat16/rope", .dtype = Dtype::bfloat16, .position = rope},
          {.name = "float32/window_256", .window = 256}};
}

[[maybe_unused]] const bool registered = [] {
#ifdef __x86_64__
  if (!__builtin_cpu_supports("avx2")) return false;  // the products are compiled for it
#endif
  for (const Size& size : {Size{8, 1024, 64}, Size{8, 2048, 128}}) {
    for (const Case& what : cases(size)) {
      const std::string name = std::string("attention/") + what.name + "/" + std::to_string(size.heads) + "x" +
                               std::to_string(size.n) + "x" + std::to_string(size.head_dim);
      benchmark::RegisterBenchmark(name.c_str(), attention_beside_products, size, what)
          ->UseManualTime()
          ->Unit(benchmark::kMillisecond);
    }
  }
  return true;
}();

}  // namespace
}  // namespace sextant
