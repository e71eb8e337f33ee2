// Rotations and tables of float32, compiled once per Highway target; the algorithm is in float32-inl.h.
// docs/proofs/rope.md, steps 9 to 11, 14 and 22.

#include "lib/rope/tiers/tiers.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/rope/tiers/float32.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "lib/rope/tiers/float32-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

void RotateFloat32(const RopeJob& job, std::int64_t first, std::int64_t last) {
  if (job.rows.turns.powers != nullptr)
    return RotateUnitsOf<TurnFloat32<PairBounds>, Rounding::certified>(job, first, last);
  job.rows.rounding == Rounding::certified
      ? RotateUnitsOf<TurnFloat32<SharedBounds>, Rounding::certified>(job, first, last)
      : RotateUnitsOf<TurnFloat32<SharedBounds>, Rounding::fast>(job, first, last);
}

void TabulateFloat32(const TableJob& job, std::int64_t first, std::int64_t last) {
  WriteRows<TurnFloat32<SharedBounds>>(job, first, last);
}

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant {
namespace {

HWY_EXPORT(RotateFloat32);
HWY_EXPORT(TabulateFloat32);

}  // namespace

void rotate_float32(const RopeJob& job, std::int64_t first, std::int64_t last) {
  HWY_DYNAMIC_DISPATCH(RotateFloat32)(job, first, last);
}

void tabulate_float32(const TableJob& job, std::int64_t first, std::int64_t last) {
  HWY_DYNAMIC_DISPATCH(TabulateFloat32)(job, first, last);
}

}  // namespace sextant
#endif
