#include "lib/kernels/arithmetic_probe_benchmark.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <vector>

#include "lib/kernels/roofline_ratio_benchmark.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/kernels/arithmetic_probe_benchmark.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Twelve fused operations a round, each on a value of its own, which no other has: more than the latency of one times
// the ports.
float FuseIndependently(int rounds) {
  const hn::ScalableTag<float> d;
  const auto factor = hn::Set(d, 0.5F);
  const auto term = hn::Set(d, 1.0F);
  const auto start = [&](float value) HWY_ATTR { return hn::Set(d, value); };
  auto a = start(1), b = start(2), c = start(3), e = start(4), f = start(5), g = start(6);
  auto h = start(7), i = start(8), j = start(9), k = start(10), l = start(11), m = start(12);
  for (int round = 0; round < rounds; ++round) {
    for (auto* value : {&a, &b, &c, &e, &f, &g, &h, &i, &j, &k, &l, &m}) *value = hn::MulAdd(*value, factor, term);
  }
  auto sum = a;
  for (const auto* value : {&b, &c, &e, &f, &g, &h, &i, &j, &k, &l, &m}) sum = hn::Add(sum, *value);
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant {
namespace {

HWY_EXPORT(FuseIndependently);

constexpr int operations_per_round = 12;

// A multiplication a round, each of what the last one gave: three cycles on x86 processors and most others.
std::uint64_t multiply_dependently(int rounds, std::uint64_t x) {
  for (int round = 0; round < rounds; ++round) x *= 6364136223846793005U;
  return x;
}
constexpr int cycles_per_multiplication = 3;

template <class Call>
double seconds_of(Call call) {
  const auto start = std::chrono::steady_clock::now();
  call();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Some 10 microseconds each, so that few are interrupted; the medians leave those out.
double on_this_thread() {
  constexpr int fused_rounds = 6000;
  constexpr int multiplications = 12000;
  std::vector<double> fused;
  std::vector<double> chains;
  for (int i = 0; i < 15; ++i) {
    fused.push_back(
        seconds_of([] { benchmark::DoNotOptimize(HWY_DYNAMIC_DISPATCH(FuseIndependently)(fused_rounds)); }));
    std::uint64_t seed = 1;
    benchmark::DoNotOptimize(seed);
    chains.push_back(seconds_of([&] { benchmark::DoNotOptimize(multiply_dependently(multiplications, seed)); }));
  }
  const double cycle = median(chains) / (cycles_per_multiplication * multiplications);
  return operations_per_round * fused_rounds / (median(fused) / cycle);
}

}  // namespace

double fused_operations_per_cycle(int threads) {
  double least = std::numeric_limits<double>::infinity();
#pragma omp parallel num_threads(threads) reduction(min : least)
  least = on_this_thread();
  return least;
}

}  // namespace sextant
#endif
