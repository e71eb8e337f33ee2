// Each dtype's kernels are a file of their own.

#include "lib/rope/tiers/tiers.hpp"
#include "lib/rope/job.hpp"

namespace sextant {

void rotate_units(const RopeJob& job, std::int64_t first, std::int64_t last) {
  switch (job.dtype) {
    case Dtype::float64: return rotate_float64(job, first, last);
    case Dtype::float32:
      return job.y_dtype == Dtype::float32 ? rotate_float32(job, first, last)
                                           : rotate_float32_to_narrow(job, first, last);
    case Dtype::float16: return rotate_float16(job, first, last);
    case Dtype::bfloat16: return rotate_bfloat16(job, first, last);
    case Dtype::int64: return;  // refused before
  }
}

void write_rotation_rows(const TableJob& job, std::int64_t first, std::int64_t last) {
  switch (job.cos.dtype) {
    case Dtype::float64: return tabulate_float64(job, first, last);
    case Dtype::float32: return tabulate_float32(job, first, last);
    case Dtype::float16: return tabulate_float16(job, first, last);
    case Dtype::bfloat16: return tabulate_bfloat16(job, first, last);
    case Dtype::int64: return;  // refused before
  }
}

}  // namespace sextant
