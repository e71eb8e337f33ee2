#include <benchmark/benchmark.h>
#include <mpfr.h>

#include <chrono>
#include <vector>

#ifdef SEXTANT_HAVE_FLINT
#include <arb.h>
#endif

#include "reference/fast_rotations.hpp"
#include "reference/frequency.hpp"
#include "reference/table_comparison.hpp"

// What truth costs: sin and cos of one frequency at one position, by the oracle's tiers and by the libraries that it
// could be built on alone. The counter `of_mpfr` is the rate over that of raw MPFR at 128 bits in the same run,
// `of_flint` over FLINT's.

namespace sextant::reference {
namespace {

constexpr std::int64_t dim = 128;
constexpr std::int64_t pairs = dim / 2;
constexpr std::int64_t positions = 131072;

// Rates of the peers in this run, pairs per second; 0 until they have run.
double mpfr_rate = 0;
double flint_rate = 0;

void report(benchmark::State& state, std::int64_t pairs_done, double seconds, double* own_rate = nullptr) {
  const double rate = static_cast<double>(pairs_done) / seconds;
  state.counters["ns_per_pair"] = 1e9 / rate;
  if (own_rate != nullptr) *own_rate = rate;
  if (mpfr_rate > 0) state.counters["of_mpfr"] = rate / mpfr_rate;
  if (flint_rate > 0) state.counters["of_flint"] = rate / flint_rate;
}

// Runs `row(position)` over positions spread through the range and reports pairs per second.
template <class Row>
void time_rows(benchmark::State& state, double* own_rate, Row row) {
  std::int64_t position = 1;
  std::int64_t rows = 0;
  const auto start = std::chrono::steady_clock::now();
  for ([[maybe_unused]] auto _ : state) {
    row(position);
    position = (position + 50021) % positions;
    ++rows;
  }
  report(state, rows * pairs, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
         own_rate);
}

void mpfr_sin_cos_128(benchmark::State& state) {
  GeometricFrequencies frequencies(10000, 2, dim, pairs);
  mpfr_t angle;
  mpfr_t sine;
  mpfr_t cosine;
  mpfr_inits2(128, angle, sine, cosine, static_cast<mpfr_ptr>(nullptr));
  time_rows(state, &mpfr_rate, [&](std::int64_t position) {
    for (std::int64_t i = 0; i < pairs; ++i) {
      mpfr_mul_si(angle, frequencies.radians(i, Precision{128}).lower_end(), position, MPFR_RNDN);
      mpfr_sin_cos(sine, cosine, angle, MPFR_RNDN);
      benchmark::DoNotOptimize(*sine);
    }
  });
  mpfr_clears(angle, sine, cosine, static_cast<mpfr_ptr>(nullptr));
}
BENCHMARK(mpfr_sin_cos_128)->Name("oracle/mpfr_sin_cos/128bits");

#ifdef SEXTANT_HAVE_FLINT
void flint_arb_128(benchmark::State& state) {
  GeometricFrequencies frequencies(10000, 2, dim, pairs);
  std::vector<arb_struct> balls(static_cast<std::size_t>(pairs));
  arb_t angle;
  arb_t sine;
  arb_t cosine;
  for (arb_ptr ball : {angle, sine, cosine}) arb_init(ball);
  for (std::size_t i = 0; i < balls.size(); ++i) {
    const Enclosure& radians = frequencies.radians(static_cast<std::int64_t>(i), Precision{128});
    arb_init(&balls[i]);
    arb_set_interval_mpfr(&balls[i], radians.lower_end(), radians.upper_end(), 128);
  }
  time_rows(state, &flint_rate, [&](std::int64_t position) {
    for (arb_struct& ball : balls) {
      arb_mul_si(angle, &ball, position, 128);
      arb_sin_cos(sine, cosine, angle, 128);
      benchmark::DoNotOptimize(*sine);
    }
  });
  for (arb_ptr ball : {angle, sine, cosine}) arb_clear(ball);
  for (arb_struct& ball : balls) arb_clear(&ball);
}
BENCHMARK(flint_arb_128)->Name("oracle/flint_arb/128bits");
#endif

void exact_tier(benchmark::State& state) {
  GeometricFrequencies frequencies(10000, 2, dim, pairs);
  time_rows(state, nullptr, [&](std::int64_t position) {
    for (std::int64_t i = 0; i < pairs; ++i) {
      const auto* rotation = &frequencies.rotation(position, i, Precision{128});
      benchmark::DoNotOptimize(rotation);
    }
  });
}
BENCHMARK(exact_tier)->Name("oracle/exact/128bits");

void fast_random_access(benchmark::State& state) {
  GeometricFrequencies frequencies(10000, 2, dim, pairs);
  const FastRotations fast = frequencies.fast();
  RotationRow row = fast.make_row();
  time_rows(state, nullptr, [&](std::int64_t position) {
    fast.at(position, row);
    benchmark::DoNotOptimize(row.sin_high.data());
  });
}
BENCHMARK(fast_random_access)->Name("oracle/fast/random_access/128");

void fast_sweep(benchmark::State& state) {
  GeometricFrequencies frequencies(10000, 2, dim, pairs);
  const FastRotations fast = frequencies.fast();
  std::int64_t done = 0;
  const auto start = std::chrono::steady_clock::now();
  for ([[maybe_unused]] auto _ : state) {
    fast.sweep(0, positions,
               [](std::int64_t, const RotationRow& row) { benchmark::DoNotOptimize(row.sin_high.data()); });
    done += positions * pairs;
  }
  report(state, done, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
}
BENCHMARK(fast_sweep)->Name("oracle/fast/sweep/131072x128")->Unit(benchmark::kMillisecond);

// Every value of a float32 table against the truth, on all threads; the table itself is most of the memory.
void compare_table(benchmark::State& state) {
  Sinusoidal encoding;
  encoding.dim = dim;
  SinusoidalReference oracle(encoding);
  Tensor table = Tensor::zeros(Dtype::float32, {positions, dim});
  oracle.fast().sweep(0, positions, [&](std::int64_t position, const RotationRow& row) {
    for (std::int64_t pair = 0; pair < pairs; ++pair) {
      table.set(position * dim + 2 * pair, row.sin_high[static_cast<std::size_t>(pair)]);
      table.set(position * dim + 2 * pair + 1, row.cos_high[static_cast<std::size_t>(pair)]);
    }
  });
  TableComparison found;
  for ([[maybe_unused]] auto _ : state) found = compare(oracle, 0, table);
  state.counters["values_per_second"] =
      benchmark::Counter(static_cast<double>(table.elements()), benchmark::Counter::kIsIterationInvariantRate);
  state.counters["not_nearest"] = static_cast<double>(found.not_nearest);
  state.counters["exact_values"] = static_cast<double>(found.exact_values);
}
BENCHMARK(compare_table)->Name("oracle/compare/float32/131072x128")->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace sextant::reference
