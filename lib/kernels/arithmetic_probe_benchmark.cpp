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

// Eight fused operations a round and eight of integers, an addition and an exclusive or in turns, so that no compiler
// makes one operation of several. Fifteen values: AVX2 has registers for sixteen.
float FuseBesideIntegers(int rounds) {
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> di;
  const auto factor = hn::Set(d, 0.5F);
  const auto term = hn::Set(d, 1.0F);
  const auto count = hn::Set(di, rounds);
  const auto start = [&](float value) HWY_ATTR { return hn::Set(d, value); };
  auto a = start(1), b = start(2), c = start(3), e = start(4), f = start(5), g = start(6), h = start(7), i = start(8);
  auto p = hn::Set(di, 1), q = hn::Set(di, 2), r = hn::Set(di, 3), s = hn::Set(di, 4);
  for (int round = 0; round < rounds; ++round) {
    const auto two_of_each = [&](auto& one, auto& other, auto& integers) HWY_ATTR {
      one = hn::MulAdd(one, factor, term);
      integers = hn::Add(integers, count);
      other = hn::MulAdd(other, factor, term);
      integers = hn::Xor(integers, hn::BitCast(di, factor));
    };
    two_of_each(a, b, p), two_of_each(c, e, q), two_of_each(f, g, r), two_of_each(h, i, s);
  }
  auto sum = a;
  for (const auto* value : {&b, &c, &e, &f, &g, &h, &i}) sum = hn::Add(sum, *value);
  for (const auto* value : {&q, &r, &s}) p = hn::Xor(p, *value);
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(sum, hn::ConvertTo(d, p))));
}

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant {
namespace {

HWY_EXPORT(FuseIndependently);
HWY_EXPORT(FuseBesideIntegers);

constexpr int fused_per_round = 12;
constexpr int mixed_per_round = 16;

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
Arithmetic on_this_thread() {
  constexpr int rounds = 6000;
  constexpr int multiplications = 12000;
  std::vector<double> fused;
  std::vector<double> mixed;
  std::vector<double> chains;
  for (int i = 0; i < 15; ++i) {
    fused.push_back(seconds_of([] { benchmark::DoNotOptimize(HWY_DYNAMIC_DISPATCH(FuseIndependently)(rounds)); }));
    mixed.push_back(seconds_of([] { benchmark::DoNotOptimize(HWY_DYNAMIC_DISPATCH(FuseBesideIntegers)(rounds)); }));
    std::uint64_t seed = 1;
    benchmark::DoNotOptimize(seed);
    chains.push_back(seconds_of([&] { benchmark::DoNotOptimize(multiply_dependently(multiplications, seed)); }));
  }
  const double cycle = median(chains) / (cycles_per_multiplication * multiplications);
  return {fused_per_round * rounds / (median(fused) / cycle), mixed_per_round * rounds / median(mixed)};
}

}  // namespace

Arithmetic measured_arithmetic(int threads) {
  double fused = std::numeric_limits<double>::infinity();
  double mixed = std::numeric_limits<double>::infinity();
#pragma omp parallel num_threads(threads) reduction(min : fused, mixed)
  {
    const Arithmetic own = on_this_thread();
    fused = own.fused_per_cycle;
    mixed = own.vector_operations_per_second;
  }
  return {fused, mixed};
}

}  // namespace sextant
#endif
