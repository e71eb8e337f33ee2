#pragma once

#include <benchmark/benchmark.h>

#include <cstddef>
#include <functional>
#include <span>
#include <string>

// What the benchmarks of the encoders share: memory, the speed of memory beside which they are read, and the pairing of
// the two.

namespace sextant {

/// The least that a kernel of a given traffic must do.
enum class Roofline {
  stream_store,    ///< fill the memory, past the caches: what writing a table costs
  store,           ///< fill the memory by ordinary stores: what writing a table within the caches costs
  scale_inplace,   ///< multiply every float32 of the memory by a constant: what rotating in place costs
  stream_copy,     ///< copy from elsewhere, past the caches: what rotating from one array into another costs
  stream_narrowed  ///< read twice what is written, past the caches: what rotating float32 into 16 bits costs
};

/// How many bytes a roofline reads elsewhere for each that it writes.
std::size_t read_per_written(Roofline roofline);

/// Runs the roofline once on `threads` threads: `written` is filled or scaled, or becomes what is made of `read`, which
/// has read_per_written() times as many bytes and is left as it is.
void run_roofline(Roofline roofline, std::span<std::byte> written, std::span<const std::byte> read, int threads);

/// At least `size` bytes, aligned to 64, touched, zero at first: one piece of memory that all benchmarks share, so that
/// they see the same pages. Good until the next call with a larger size.
std::span<std::byte> benchmark_memory(std::size_t size);

/// Registers `name`/threads:1 and `name`/threads:2 (and the machine's number, if larger). Each iteration runs the
/// roofline over the shared memory and then `body`, on the same number of threads, and
/// times them apart, so that whatever else the machine does meets both. Counters: bytes_per_second, `bytes` over the
/// time of `body`; of_roofline, the rate of `body` over that of the roofline, from the median times of both: not a
/// number, and a label that says "unknown", where the roofline's own times vary by more than a tenth
/// (roofline_ratio_benchmark.hpp); fused_per_cycle and vector_operations_per_second, of all threads, the less of what
/// the cores had for arithmetic before and after (arithmetic_probe_benchmark.hpp).
///
/// `prepare` makes the body, once per thread count, after the memory is there and outside the clock: what it returns is
/// run. It is given what the roofline writes and what it reads, which a body may use for the same.
struct PairedBenchmark {
  std::string name;
  Roofline roofline = Roofline::stream_store;
  std::size_t bytes = 0;  ///< that the case and its roofline write
  std::function<std::function<void()>(std::span<std::byte> written, std::span<std::byte> read)> prepare;
};
void register_paired(const PairedBenchmark& benchmark);

}  // namespace sextant
