// Sine and cosine of one frequency's angle at many points in double, for one Highway target: included inside
// HWY_NAMESPACE by a file that is compiled once per target.
//
//   1. The angle is taken modulo half a turn into one double; of several axes, the sum of them.
//   2. Its sine and cosine are polynomials in its square; the parity of the half turns is the sign of both.
//   3. With the cosine kept twice, C = 2c, those of twice the angle take one operation each: s C and C^2 - 2.
//
// docs/proofs/fourier-tiles.md has the bounds; steps below are its.

#if defined(SEXTANT_LIB_FOURIER_ANGLES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_LIB_FOURIER_ANGLES_INL_H_
#undef SEXTANT_LIB_FOURIER_ANGLES_INL_H_
#else
#define SEXTANT_LIB_FOURIER_ANGLES_INL_H_
#endif

#include <hwy/highway.h>

#include <array>
#include <cstddef>
#include <span>

#include "lib/fourier/tile.hpp"
#include "lib/kernels/rotations-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

/// Step 6: the error of a sine or cosine that has been doubled so often.
constexpr double FeatureError(int doublings) {
  if (doublings > 4) return (1 << 2 * doublings) * 0x1p-52;
  return (doublings < 4 ? 1 << doublings : 32) * 0x1p-49;
}

// ci/constants: double[8] = near_minimax(sine_of_turns, 1/2**4, 7)
constexpr std::array<double, 8> sine_coefficients{0x1.921fb54442d17p+2,  -0x1.4abbce625bd83p+5, 0x1.466bc677522bdp+6,
                                                  -0x1.32d2cce1ea145p+6, 0x1.5078327046959p+5,  -0x1.e30631bdf732dp+3,
                                                  0x1.e89f6fe44fe7bp+1,  -0x1.62903d02bb153p-1};
// ci/constants: double[8] = near_minimax(cosine_of_turns_less_one, 1/2**4, 7)
constexpr std::array<double, 8> cosine_coefficients{-0x1.3bd3cc9be45dep+4, 0x1.03c1f081b5a9fp+6,  -0x1.55d3c7e3c9051p+6,
                                                    0x1.e1f5068620bcbp+5,  -0x1.a6d1f12b0bef2p+4, 0x1.f9d2c1f3b2167p+2,
                                                    -0x1.b6a6feabe52e9p+0, 0x1.179a329ef4140p-2};

/// The cosine is had twice: that changes an exponent, and no bit that rounds.
constexpr std::array<double, 8> Twice(std::array<double, 8> values) {
  for (double& value : values) value *= 2;
  return values;
}

/// Sine and twice the cosine of the same angles.
struct DoublingRotation {
  DoubleVector sin;
  DoubleVector twice_cos;
};

/// Turns modulo half a turn, and the number of halves in the last bit.
struct HalfTurns {
  DoubleVector halves;
  DoubleVector rest;
};

/// Steps 1 and 2: of a vector of counts.
HWY_INLINE HalfTurns HalfTurnsAt(const FrequencyPieces& frequencies, std::size_t band, const double* counts) {
  const Doubles d;
  const DoubleVector count = hn::LoadU(d, counts);
  const DoubleDouble<DoubleVector> leading = TwoProduct(count, hn::Set(d, frequencies.high()[band]));
  const DoubleVector magic = hn::Set(d, 0x1.8p51);
  const DoubleVector halves = hn::Add(leading.high, magic);
  const DoubleVector low = hn::MulAdd(count, hn::Set(d, frequencies.middle()[band]), leading.low);
  return {halves, hn::Add(hn::Sub(leading.high, hn::Sub(halves, magic)), low)};
}

/// Step 3: the same of the sum of all axes, from a point of the tile on.
HWY_INLINE HalfTurns HalfTurnsOfSum(std::span<const FourierAxis> axes, std::size_t band, const TileCounts& counts,
                                    std::size_t point) {
  const Doubles d;
  const DoubleVector magic = hn::Set(d, 0x1.8p51);
  HalfTurns sum = HalfTurnsAt(*axes[0].frequencies, band, counts[0].data() + point);
  for (std::size_t axis = 1; axis < axes.size(); ++axis) {
    const HalfTurns more = HalfTurnsAt(*axes[axis].frequencies, band, counts[axis].data() + point);
    const DoubleVector rest = hn::Add(sum.rest, more.rest);
    const DoubleVector halves = hn::Add(rest, magic);
    sum = {hn::Xor(hn::Xor(sum.halves, more.halves), halves), hn::Sub(rest, hn::Sub(halves, magic))};
  }
  return sum;
}

/// Step 4, of several vectors at a time. Each sum waits for the one before it, so that those of all sines and cosines
/// are written in turns: a core looks ahead over few operations that wait. (Arrays of vectors, since on AArch64 a
/// struct's own constructor is not compiled for the target.)
template <std::size_t count>
HWY_INLINE void RotationsOf(const DoubleVector (&halves)[count], const DoubleVector (&rest)[count],
                            DoubleVector (&sin)[count], DoubleVector (&twice_cos)[count]) {
  constexpr std::array<double, 8> twice_cosine = Twice(cosine_coefficients);
  const Doubles d;
  const hn::RebindToUnsigned<Doubles> du;
  DoubleVector square[count], sine[count], cosine[count];
  for (std::size_t i = 0; i < count; ++i) {
    square[i] = hn::Mul(rest[i], rest[i]);
    sine[i] = hn::Set(d, sine_coefficients[7]);
    cosine[i] = hn::Set(d, twice_cosine[7]);
  }
  for (std::size_t k = 7; k-- > 0;) {
    for (std::size_t i = 0; i < count; ++i) {
      sine[i] = hn::MulAdd(sine[i], square[i], hn::Set(d, sine_coefficients[k]));
      cosine[i] = hn::MulAdd(cosine[i], square[i], hn::Set(d, twice_cosine[k]));
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    const DoubleVector sign = hn::BitCast(d, hn::ShiftLeft<63>(hn::BitCast(du, halves[i])));
    sin[i] = hn::Xor(hn::Mul(sine[i], rest[i]), sign);
    twice_cos[i] = hn::Xor(hn::MulAdd(cosine[i], square[i], hn::Set(d, 2.0)), sign);
  }
}

/// Step 6: of twice the angle.
HWY_INLINE DoublingRotation Doubled(const DoublingRotation& z) {
  return {hn::Mul(z.sin, z.twice_cos), hn::MulSub(z.twice_cos, z.twice_cos, hn::Set(Doubles(), 2.0))};
}

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
