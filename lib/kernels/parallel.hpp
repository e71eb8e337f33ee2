#pragma once

#include <cstdint>
#include <exception>
#include <limits>

#include "lib/numeric/standard_arithmetic.hpp"

namespace sextant {

/// Elements below which a second thread costs more than it saves.
inline constexpr std::int64_t elements_per_thread = 1 << 14;

/// body(0), ..., body(count - 1), in any order, each under StandardArithmetic, on as many threads as OpenMP gives where
/// the elements that all of them compute are worth a second one. An exception must not leave an OpenMP loop: the one of
/// the least index is thrown from here once all have run. A body that writes nowhere but to its own index's memory
/// gives the same bits on any number of threads.
template <class Body>
void parallel_for(std::int64_t count, std::int64_t elements, Body body) {
  std::exception_ptr first;
  std::int64_t first_index = std::numeric_limits<std::int64_t>::max();
#pragma omp parallel if (count > 1 && elements >= 2 * elements_per_thread)
  {
    const StandardArithmetic arithmetic;
#pragma omp for schedule(dynamic) nowait
    for (std::int64_t i = 0; i < count; ++i) {
      try {
        body(i);
      } catch (...) {
#pragma omp critical(sextant_parallel_for)
        if (i < first_index) {
          first_index = i;
          first = std::current_exception();
        }
      }
    }
  }
  if (first) std::rethrow_exception(first);
}

/// work(first, last) for contiguous shares of [0, units), one to each of `threads` threads: for work that gains by
/// going through its units in order. Arithmetic and exceptions as above.
template <class Work>
void parallel_shares(std::int64_t units, int threads, Work work) {
  if (threads <= 1) {
    const StandardArithmetic arithmetic;
    return work(std::int64_t{0}, units);
  }
  std::exception_ptr first;
  int first_index = threads;
#pragma omp parallel num_threads(threads)
  {
    const StandardArithmetic arithmetic;
#pragma omp for schedule(static) nowait
    for (int i = 0; i < threads; ++i) {
      try {
        work(units * i / threads, units * (i + 1) / threads);
      } catch (...) {
#pragma omp critical(sextant_parallel_shares)
        if (i < first_index) {
          first_index = i;
          first = std::current_exception();
        }
      }
    }
  }
  if (first) std::rethrow_exception(first);
}

}  // namespace sextant
