#pragma once

#include <cstdint>
#include <exception>
#include <limits>

namespace sextant {

/// body(0), ..., body(count - 1), on as many threads as OpenMP gives, in any order. An exception must not leave an OpenMP loop: the one of the
/// least index is thrown from here once all have run. A body that writes nowhere but to its own index's memory gives the same bits on
/// any number of threads.
template <class Body>
void parallel_for(std::int64_t count, Body body) {
  std::exception_ptr first;
  std::int64_t first_index = std::numeric_limits<std::int64_t>::max();
#pragma omp parallel for schedule(dynamic) if (count > 1)
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
  if (first) std::rethrow_exception(first);
}

}  // namespace sextant
