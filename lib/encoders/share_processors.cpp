// OpenMP's threads of a process, where several call encoders at once.

#include "lib/encoders/share_processors.hpp"

#include <omp.h>

#include <algorithm>

namespace sextant {

void share_processors(int callers) { omp_set_num_threads(std::max(1, omp_get_num_procs() / callers)); }

}  // namespace sextant
