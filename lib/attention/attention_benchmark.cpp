#define EIGEN_DONT_PARALLELIZE

#include <benchmark/benchmark.h>

#include <Eigen/Core>
#include <chrono>
#include <cstdint>
#include <functional>
#include <random>
#include <string>

#include "lib/attention/attention.hpp"
#include "lib/kernels/parallel.hpp"

// Attention beside the matrix products that it cannot do without: q k^T and weights v for each head, whole, by Eigen
// alone, heads shared among threads. `of_eigen_product` is the rate of attention over that of the products, measured in
// the same case.

namespace sextant {
namespace {

struct Size {
  std::int64_t heads;
  std::int64_t n;
  std::int64_t head_dim;
};

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Tensor uniform(const Size& size, unsigned seed) {
  Tensor tensor = Tensor::zeros(Dtype::float32, {1, size.heads, size.n, size.head_dim});
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> value(-1, 1);
  for (std::int64_t i = 0; i < tensor.elements(); ++i) tensor.set(i, value(random));
  return tensor;
}

// The two products of every head, in memory quadratic in n.
double seconds_of_products(const Size& size) {
  const Matrix vectors = Matrix::Random(size.n, size.head_dim);
  return seconds_of([&] {
    parallel_for(size.heads, size.heads * size.n * size.n, [&](std::int64_t) {
      Matrix scores(size.n, size.n);
      Matrix out(size.n, size.head_dim);
      scores.noalias() = vectors * vectors.transpose();
      out.noalias() = scores * vectors;
      benchmark::DoNotOptimize(out.data());
    });
  });
}

void attention_float32(benchmark::State& state, const Size& size) {
  const DotProductAttention attention({size.heads, size.heads, size.head_dim, false, std::nullopt});
  const Tensor q = uniform(size, 1);
  const Tensor k = uniform(size, 2);
  const Tensor v = uniform(size, 3);
  double own = 0;
  double products = 0;
  for ([[maybe_unused]] auto _ : state) {
    // In turns, so that what else the machine does meets both.
    const double seconds = seconds_of([&] { benchmark::DoNotOptimize(attention.attend({q, k, v, {}, nullptr})); });
    products += seconds_of_products(size);
    own += seconds;
    state.SetIterationTime(seconds);
  }
  const double operations =
      4.0 * static_cast<double>(size.heads * size.n * size.n * size.head_dim) * static_cast<double>(state.iterations());
  state.counters["of_eigen_product"] = products / own;
  state.counters["gflops"] = operations / own * 1e-9;
}

[[maybe_unused]] const bool registered = [] {
  for (const Size& size : {Size{8, 1024, 64}, Size{8, 2048, 128}}) {
    const std::string name = "attention/float32/" + std::to_string(size.heads) + "x" + std::to_string(size.n) + "x" +
                             std::to_string(size.head_dim);
    benchmark::RegisterBenchmark(name.c_str(), attention_float32, size)->UseManualTime()->Unit(benchmark::kMillisecond);
  }
  return true;
}();

}  // namespace
}  // namespace sextant
