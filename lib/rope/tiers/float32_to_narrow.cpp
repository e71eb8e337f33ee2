// Rotations of float32 into float16 and bfloat16, compiled once per Highway target; the algorithm is in
// quick_narrow-inl.h. docs/proofs/rope.md, step 24.

#include "lib/rope/tiers/tiers.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/rope/tiers/float32_to_narrow.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "lib/rope/tiers/quick_narrow-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

void RotateFloat32ToNarrow(const RopeJob& job, std::int64_t first, std::int64_t last) {
  job.y_dtype == Dtype::float16 ? RotateUnitsOf<TurnFloat32To<Float16>, Rounding::certified>(job, first, last)
                                : RotateUnitsOf<TurnFloat32To<BFloat16>, Rounding::certified>(job, first, last);
}

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant {
namespace {

HWY_EXPORT(RotateFloat32ToNarrow);

}  // namespace

void rotate_float32_to_narrow(const RopeJob& job, std::int64_t first, std::int64_t last) {
  HWY_DYNAMIC_DISPATCH(RotateFloat32ToNarrow)(job, first, last);
}

}  // namespace sextant
#endif
