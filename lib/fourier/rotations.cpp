// Rows of rotations in double-double, compiled once per Highway target.
//
//   1. A row at a position comes from the exact phase of each frequency (lib/kernels/rotations-inl.h).
//   2. A row is turned further by another, pair by pair, in double-double.
//
// docs/proofs/encoder-rotations.md has the bounds of both; each axis beyond the first turns once more (fourier.cpp).

#include "lib/fourier/rotations.hpp"

#include <array>

#include "lib/kernels/unit_circle.hpp"
#include "lib/numeric/standard_arithmetic.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/fourier/rotations.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "lib/kernels/rotations-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

HWY_INLINE DoubleDouble<DoubleVector> LoadPart(const std::vector<double>& high, const std::vector<double>& low,
                                               std::size_t i) {
  const Doubles d;
  return {hn::LoadU(d, high.data() + i), hn::LoadU(d, low.data() + i)};
}

HWY_INLINE void StoreRow(const PreciseRotation& z, std::size_t i, PreciseRotations& row) {
  const Doubles d;
  hn::StoreU(z.sin.high, d, row.sin_high.data() + i);
  hn::StoreU(z.sin.low, d, row.sin_low.data() + i);
  hn::StoreU(z.cos.high, d, row.cos_high.data() + i);
  hn::StoreU(z.cos.low, d, row.cos_low.data() + i);
}

HWY_INLINE PreciseRotation LoadRow(const PreciseRotations& row, std::size_t i) {
  return {LoadPart(row.sin_high, row.sin_low, i), LoadPart(row.cos_high, row.cos_low, i)};
}

void FillRotations(const FrequencyPieces& frequencies, std::int64_t count, PreciseRotations& row) {
  const SplitPosition position = split_position(count);
  const UnitCircle& circle = unit_circle();
  for (std::size_t i = 0; i < frequencies.padded(); i += hn::Lanes(Doubles()))
    StoreRow(PreciseRotationAt(frequencies, i, position, circle), i, row);
}

void TurnRotations(PreciseRotations& row, const PreciseRotations& by) {
  for (std::size_t i = 0; i < row.sin_high.size(); i += hn::Lanes(Doubles()))
    StoreRow(Multiply(LoadRow(row, i), LoadRow(by, i)), i, row);
}

PreciseSinCos RotationOfBand(std::span<const FrequencyPieces> axes, std::size_t band,
                             std::span<const std::int64_t> counts) {
  const Doubles d;
  const std::size_t lane = band % hn::Lanes(d);
  const UnitCircle& circle = unit_circle();
  PreciseRotation z = PreciseRotationAt(axes[0], band - lane, split_position(counts[0]), circle);
  for (std::size_t axis = 1; axis < axes.size(); ++axis)
    z = Multiply(z, PreciseRotationAt(axes[axis], band - lane, split_position(counts[axis]), circle));
  const auto chosen = [&](DoubleVector v) HWY_ATTR {
    HWY_ALIGN std::array<double, hn::MaxLanes(d)> lanes;
    hn::Store(v, d, lanes.data());
    return lanes[lane];
  };
  return {chosen(z.sin.high), chosen(z.sin.low), chosen(z.cos.high), chosen(z.cos.low)};
}

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant {
namespace {

HWY_EXPORT(FillRotations);
HWY_EXPORT(TurnRotations);
HWY_EXPORT(RotationOfBand);

}  // namespace

void rotations_at(const FrequencyPieces& frequencies, std::int64_t count, PreciseRotations& rotations) {
  const StandardArithmetic arithmetic;
  HWY_DYNAMIC_DISPATCH(FillRotations)(frequencies, count, rotations);
}

void turn_further(PreciseRotations& rotations, const PreciseRotations& by) {
  const StandardArithmetic arithmetic;
  HWY_DYNAMIC_DISPATCH(TurnRotations)(rotations, by);
}

PreciseSinCos rotation_of_band(std::span<const FrequencyPieces> axes, std::size_t band,
                               std::span<const std::int64_t> counts) {
  const StandardArithmetic arithmetic;
  return HWY_DYNAMIC_DISPATCH(RotationOfBand)(axes, band, counts);
}

}  // namespace sextant
#endif
