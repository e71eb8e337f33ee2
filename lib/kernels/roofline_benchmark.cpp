#include "lib/kernels/roofline_benchmark.hpp"

#include <hwy/cache_control.h>
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "lib/kernels/arithmetic_probe_benchmark.hpp"
#include "lib/kernels/roofline_ratio_benchmark.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/kernels/roofline_benchmark.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

void StreamStore(float* data, std::size_t count) {
  const hn::ScalableTag<float> d;
  const auto value = hn::Set(d, 0.5F);
  for (std::size_t i = 0; i < count; i += hn::Lanes(d)) hn::Stream(value, d, data + i);
  hwy::FlushStream();
}

void ScaleInplace(float* data, std::size_t count) {
  const hn::ScalableTag<float> d;
  const auto factor = hn::Set(d, 0.999F);
  for (std::size_t i = 0; i < count; i += hn::Lanes(d)) hn::Store(hn::Mul(hn::Load(d, data + i), factor), d, data + i);
}

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant {
namespace {

HWY_EXPORT(StreamStore);
HWY_EXPORT(ScaleInplace);

using Clock = std::chrono::steady_clock;

// Bytes that one thread takes at a time: a multiple of the cache line, small against any footprint.
constexpr std::size_t chunk = std::size_t{1} << 16;

double seconds(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

void run_paired(benchmark::State& state, const PairedBenchmark& paired, int threads) {
  const std::span<std::byte> memory = benchmark_memory(paired.bytes).first(paired.bytes);
  omp_set_num_threads(threads);
  const std::function<void()> body = paired.prepare(memory);
  body();
  const double fused_before = fused_operations_per_cycle(threads);
  std::vector<double> body_times;
  std::vector<double> roofline_times;
  for ([[maybe_unused]] auto _ : state) {
    Clock::time_point start = Clock::now();
    run_roofline(paired.roofline, memory, threads);
    roofline_times.push_back(seconds(start));
    start = Clock::now();
    body();
    body_times.push_back(seconds(start));
    state.SetIterationTime(body_times.back());
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(paired.bytes));
  const RooflineRatio found = roofline_ratio(roofline_times, body_times);
  state.counters["of_roofline"] = found.ratio;
  state.counters["fused_per_cycle"] = std::min(fused_before, fused_operations_per_cycle(threads));
  if (std::isnan(found.ratio))
    state.SetLabel("of_roofline unknown: the roofline varies by " +
                   std::to_string(std::lround(100 * std::min(found.variation, 99.0))) + " %");
}

void run_alone(benchmark::State& state, Roofline roofline, std::size_t bytes, int threads) {
  const std::span<std::byte> memory = benchmark_memory(bytes).first(bytes);
  for ([[maybe_unused]] auto _ : state) run_roofline(roofline, memory, threads);
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes));
}

std::vector<int> thread_counts() {
  std::vector<int> counts{1, 2};
  if (omp_get_num_procs() > 2) counts.push_back(omp_get_num_procs());
  return counts;
}

// The footprints that the encoders' benchmarks have: the tables' and the rotations' of docs/encoders.md.
const int registered = [] {
  struct Case {
    const char* name;
    Roofline roofline;
    std::size_t bytes;
  };
  for (const Case& entry :
       {Case{"roofline/stream_store/131072x128", Roofline::stream_store, std::size_t{131072} * 128 * 4},
        Case{"roofline/stream_store/131072x512", Roofline::stream_store, std::size_t{131072} * 512 * 4},
        Case{"roofline/scale_inplace/8192x32x128", Roofline::scale_inplace, std::size_t{8192} * 32 * 128 * 4}}) {
    for (const int threads : thread_counts()) {
      benchmark::RegisterBenchmark(
          (entry.name + std::string("/threads:") + std::to_string(threads)).c_str(),
          [entry, threads](benchmark::State& state) { run_alone(state, entry.roofline, entry.bytes, threads); })
          ->UseRealTime()
          ->Unit(benchmark::kMillisecond);
    }
  }
  return 0;
}();

}  // namespace

void run_roofline(Roofline roofline, std::span<std::byte> memory, int threads) {
  const auto chunks = static_cast<std::int64_t>((memory.size() + chunk - 1) / chunk);
#pragma omp parallel for schedule(static) num_threads(threads)
  for (std::int64_t i = 0; i < chunks; ++i) {
    const std::size_t start = static_cast<std::size_t>(i) * chunk;
    const std::size_t bytes = std::min(chunk, memory.size() - start) / 64 * 64;
    auto* data = reinterpret_cast<float*>(memory.data() + start);
    if (roofline == Roofline::stream_store) {
      HWY_DYNAMIC_DISPATCH(StreamStore)(data, bytes / sizeof(float));
    } else {
      HWY_DYNAMIC_DISPATCH(ScaleInplace)(data, bytes / sizeof(float));
    }
  }
}

std::span<std::byte> benchmark_memory(std::size_t size) {
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  static std::unique_ptr<std::byte, Free> memory;
  static std::size_t capacity = 0;
  const std::size_t wanted = (size + 4095) / 4096 * 4096;
  if (wanted > capacity) {
    memory.reset();
    memory.reset(static_cast<std::byte*>(std::aligned_alloc(4096, wanted)));
    if (!memory) throw std::bad_alloc();
    std::memset(memory.get(), 0, wanted);
    capacity = wanted;
  }
  return {memory.get(), capacity};
}

void register_paired(const PairedBenchmark& paired) {
  for (const int threads : thread_counts()) {
    benchmark::RegisterBenchmark((paired.name + "/threads:" + std::to_string(threads)).c_str(),
                                 [paired, threads](benchmark::State& state) { run_paired(state, paired, threads); })
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond);
  }
}

}  // namespace sextant
#endif
