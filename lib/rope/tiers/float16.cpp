// Rotations and tables of float16, compiled once per Highway target; the algorithm is in quick_narrow-inl.h.
// docs/proofs/rope.md, steps 12 to 14.

#include "lib/rope/tiers/tiers.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/rope/tiers/float16.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "lib/rope/tiers/quick_narrow-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

void RotateFloat16(const RopeJob& job, std::int64_t first, std::int64_t last) {
  if (job.rows.turns.powers != nullptr)
    return RotateUnitsOf<TurnNarrow<Float16, PairBounds>, Rounding::certified>(job, first, last);
  job.rows.rounding == Rounding::certified
      ? RotateUnitsOf<TurnNarrow<Float16, SharedBounds>, Rounding::certified>(job, first, last)
      : RotateUnitsOf<TurnNarrow<Float16, SharedBounds>, Rounding::fast>(job, first, last);
}

void TabulateFloat16(const TableJob& job, std::int64_t first, std::int64_t last) {
  WriteRows<TurnNarrow<Float16, SharedBounds>>(job, first, last);
}

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant {
namespace {

HWY_EXPORT(RotateFloat16);
HWY_EXPORT(TabulateFloat16);

}  // namespace

void rotate_float16(const RopeJob& job, std::int64_t first, std::int64_t last) {
  HWY_DYNAMIC_DISPATCH(RotateFloat16)(job, first, last);
}

void tabulate_float16(const TableJob& job, std::int64_t first, std::int64_t last) {
  HWY_DYNAMIC_DISPATCH(TabulateFloat16)(job, first, last);
}

}  // namespace sextant
#endif
