// The strips of a table, compiled once per Highway target; strip-inl.h has the algorithm. The dtype
// chooses the kernel here.

#include <algorithm>
#include <cmath>

#include "lib/kernels/certify.hpp"
#include "lib/kernels/rotation_error.hpp"
#include "lib/sinusoidal/exact.hpp"
#include "lib/sinusoidal/plan.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/sinusoidal/strip.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "lib/sinusoidal/strip-inl.h"

#if HWY_ONCE
namespace sextant {
namespace {

HWY_EXPORT(FillSteps);
HWY_EXPORT(EncodeFloat32);
HWY_EXPORT(EncodeFloat16);
HWY_EXPORT(EncodeBFloat16);
HWY_EXPORT(EncodeFloat64);

}  // namespace

void fill_steps(SinusoidalPlan& plan) { HWY_DYNAMIC_DISPATCH(FillSteps)(plan); }

bool encode_strip(const SinusoidalPlan& plan, const Strip& strip) {
  switch (strip.out.dtype) {
    case Dtype::float32: return HWY_DYNAMIC_DISPATCH(EncodeFloat32)(plan, strip);
    case Dtype::float16: return HWY_DYNAMIC_DISPATCH(EncodeFloat16)(plan, strip);
    case Dtype::bfloat16: return HWY_DYNAMIC_DISPATCH(EncodeBFloat16)(plan, strip);
    default: return HWY_DYNAMIC_DISPATCH(EncodeFloat64)(plan, strip);
  }
}

}  // namespace sextant
#endif
