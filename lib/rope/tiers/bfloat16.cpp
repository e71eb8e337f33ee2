// Rotations and tables of bfloat16, compiled once per Highway target; the algorithm is in quick_narrow-inl.h.
// docs/proofs/rope.md, steps 12 and 14.

#include "lib/rope/tiers/tiers.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/rope/tiers/bfloat16.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "lib/rope/tiers/quick_narrow-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

void RotateBFloat16(const RopeJob& job, std::int64_t first, std::int64_t last) {
  if (job.rows.turns.powers != nullptr)
    return RotateUnitsOf<TurnNarrow<BFloat16, PairBounds>, Rounding::certified>(job, first, last);
  job.rows.rounding == Rounding::certified
      ? RotateUnitsOf<TurnNarrow<BFloat16, SharedBounds>, Rounding::certified>(job, first, last)
      : RotateUnitsOf<TurnNarrow<BFloat16, SharedBounds>, Rounding::fast>(job, first, last);
}

void TabulateBFloat16(const TableJob& job, std::int64_t first, std::int64_t last) {
  WriteRows<TurnNarrow<BFloat16, SharedBounds>>(job, first, last);
}

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant {
namespace {

HWY_EXPORT(RotateBFloat16);
HWY_EXPORT(TabulateBFloat16);

}  // namespace

void rotate_bfloat16(const RopeJob& job, std::int64_t first, std::int64_t last) {
  HWY_DYNAMIC_DISPATCH(RotateBFloat16)(job, first, last);
}

void tabulate_bfloat16(const TableJob& job, std::int64_t first, std::int64_t last) {
  HWY_DYNAMIC_DISPATCH(TabulateBFloat16)(job, first, last);
}

}  // namespace sextant
#endif
