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
#include "lib/kernels/targets.hpp"

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

void Store(float* data, std::size_t count) {
  const hn::ScalableTag<float> d;
  const auto value = hn::Set(d, 0.5F);
  for (std::size_t i = 0; i < count; i += hn::Lanes(d)) hn::Store(value, d, data + i);
}

void ScaleInplace(float* data, std::size_t count) {
  const hn::ScalableTag<float> d;
  const auto factor = hn::Set(d, 0.999F);
  for (std::size_t i = 0; i < count; i += hn::Lanes(d)) hn::Store(hn::Mul(hn::Load(d, data + i), factor), d, data + i);
}

void StreamCopy(const float* from, float* data, std::size_t count) {
  const hn::ScalableTag<float> d;
  for (std::size_t i = 0; i < count; i += hn::Lanes(d)) hn::Stream(hn::Load(d, from + i), d, data + i);
  hwy::FlushStream();
}

void StreamNarrowed(const float* from, float* data, std::size_t count) {
  const hn::ScalableTag<float> d;
  for (std::size_t i = 0; i < count; i += hn::Lanes(d))
    hn::Stream(hn::Add(hn::Load(d, from + 2 * i), hn::Load(d, from + 2 * i + hn::Lanes(d))), d, data + i);
  hwy::FlushStream();
}

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant {
namespace {

HWY_EXPORT(StreamStore);
HWY_EXPORT(Store);
HWY_EXPORT(ScaleInplace);
HWY_EXPORT(StreamCopy);
HWY_EXPORT(StreamNarrowed);

using Clock = std::chrono::steady_clock;

// Bytes that one thread takes at a time: a multiple of the cache line, small against any footprint.
constexpr std::size_t chunk = std::size_t{1} << 16;

double seconds(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Memory for a roofline that writes so many bytes, from one page on what it writes, from another what it reads.
struct RooflineMemory {
  RooflineMemory(Roofline roofline, std::size_t bytes) {
    const std::size_t reads = bytes * read_per_written(roofline);
    const std::size_t first_read = (bytes + 4095) / 4096 * 4096;
    const std::span<std::byte> memory = benchmark_memory(first_read + reads);
    written = memory.first(bytes);
    read = memory.subspan(first_read, reads);
  }

  std::span<std::byte> written;
  std::span<std::byte> read;
};

void run_paired(benchmark::State& state, const PairedBenchmark& paired, int threads) {
  const RooflineMemory memory(paired.roofline, paired.bytes);
  omp_set_num_threads(threads);
  const std::function<void()> body = paired.prepare(memory.written, memory.read);
  body();
  const Arithmetic before = measured_arithmetic(threads);
  std::vector<double> body_times;
  std::vector<double> roofline_times;
  for ([[maybe_unused]] auto _ : state) {
    Clock::time_point start = Clock::now();
    run_roofline(paired.roofline, memory.written, memory.read, threads);
    roofline_times.push_back(seconds(start));
    start = Clock::now();
    body();
    body_times.push_back(seconds(start));
    state.SetIterationTime(body_times.back());
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(paired.bytes));
  const RooflineRatio found = roofline_ratio(roofline_times, body_times);
  state.counters["of_roofline"] = found.ratio;
  const Arithmetic after = measured_arithmetic(threads);
  state.counters["fused_per_cycle"] = std::min(before.fused_per_cycle, after.fused_per_cycle);
  state.counters["vector_operations_per_second"] =
      threads * std::min(before.vector_operations_per_second, after.vector_operations_per_second);
  if (std::isnan(found.ratio))
    state.SetLabel("of_roofline unknown: the roofline varies by " +
                   std::to_string(std::lround(100 * std::min(found.variation, 99.0))) + " %");
}

void run_alone(benchmark::State& state, Roofline roofline, std::size_t bytes, int threads) {
  const RooflineMemory memory(roofline, bytes);
  for ([[maybe_unused]] auto _ : state) run_roofline(roofline, memory.written, memory.read, threads);
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes));
}

std::vector<int> thread_counts() {
  std::vector<int> counts{1, 2};
  if (omp_get_num_procs() > 2) counts.push_back(omp_get_num_procs());
  return counts;
}

// The footprints that the encoders' benchmarks have: the tables' and the rotations' of docs/rates.md.
const int registered = [] {
  benchmark::AddCustomContext("target", std::string(target_in_use()));
  struct Case {
    const char* name;
    Roofline roofline;
    std::size_t bytes;
  };
  for (const Case& entry :
       {Case{"roofline/stream_store/131072x128", Roofline::stream_store, std::size_t{131072} * 128 * 4},
        Case{"roofline/stream_store/131072x512", Roofline::stream_store, std::size_t{131072} * 512 * 4},
        Case{"roofline/scale_inplace/8192x32x128", Roofline::scale_inplace, std::size_t{8192} * 32 * 128 * 4},
        Case{"roofline/stream_copy/8192x32x128", Roofline::stream_copy, std::size_t{8192} * 32 * 128 * 4},
        Case{"roofline/stream_narrowed/8192x32x128", Roofline::stream_narrowed, std::size_t{8192} * 32 * 128 * 2}}) {
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

std::size_t read_per_written(Roofline roofline) {
  switch (roofline) {
    case Roofline::stream_copy: return 1;
    case Roofline::stream_narrowed: return 2;
    default: return 0;
  }
}

void run_roofline(Roofline roofline, std::span<std::byte> written, std::span<const std::byte> read, int threads) {
  const auto chunks = static_cast<std::int64_t>((written.size() + chunk - 1) / chunk);
#pragma omp parallel for schedule(static) num_threads(threads)
  for (std::int64_t i = 0; i < chunks; ++i) {
    const std::size_t start = static_cast<std::size_t>(i) * chunk;
    const std::size_t count = std::min(chunk, written.size() - start) / 64 * 64 / sizeof(float);
    auto* const data = reinterpret_cast<float*>(written.data() + start);
    const auto* const from =
        reinterpret_cast<const float*>(read.data()) + start / sizeof(float) * read_per_written(roofline);
    switch (roofline) {
      case Roofline::stream_store: HWY_DYNAMIC_DISPATCH(StreamStore)(data, count); break;
      case Roofline::store: HWY_DYNAMIC_DISPATCH(Store)(data, count); break;
      case Roofline::scale_inplace: HWY_DYNAMIC_DISPATCH(ScaleInplace)(data, count); break;
      case Roofline::stream_copy: HWY_DYNAMIC_DISPATCH(StreamCopy)(from, data, count); break;
      case Roofline::stream_narrowed: HWY_DYNAMIC_DISPATCH(StreamNarrowed)(from, data, count); break;
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
