// Rotations and tables of float64, compiled once per Highway target; the algorithm is in float64-inl.h.
// docs/proofs/rope.md, steps 5, 21 and 22.

#include "lib/rope/tiers/tiers.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/rope/tiers/float64.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "lib/rope/tiers/float64-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

void RotateFloat64(const RopeJob& job, std::int64_t first, std::int64_t last) {
  if (job.rows.turns.powers != nullptr)
    return RotateUnitsOf<TurnFloat64<PairBounds>, Rounding::certified>(job, first, last);
  job.rows.rounding == Rounding::certified || !has_four_operations
      ? RotateUnitsOf<TurnFloat64<SharedBounds>, Rounding::certified>(job, first, last)
      : RotateUnitsOf<TurnFloat64<SharedBounds>, Rounding::fast>(job, first, last);
}

void TabulateFloat64(const TableJob& job, std::int64_t first, std::int64_t last) {
  WriteRows<TurnFloat64<SharedBounds>>(job, first, last);
}

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant {
namespace {

HWY_EXPORT(RotateFloat64);
HWY_EXPORT(TabulateFloat64);

}  // namespace

void rotate_float64(const RopeJob& job, std::int64_t first, std::int64_t last) {
  HWY_DYNAMIC_DISPATCH(RotateFloat64)(job, first, last);
}

void tabulate_float64(const TableJob& job, std::int64_t first, std::int64_t last) {
  HWY_DYNAMIC_DISPATCH(TabulateFloat64)(job, first, last);
}

}  // namespace sextant
#endif
