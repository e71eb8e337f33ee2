// sin and cos of frequency * position as near as floats ask for, for a vector of frequencies and one Highway target:
// included inside HWY_NAMESPACE by a file that is compiled once per target. A quarter of the operations of RotationAt,
// and no table. The phase is taken modulo one turn as it is there; docs/proofs/encoder-rotations.md, step 10, has the
// bound.

#if defined(SEXTANT_LIB_KERNELS_FLOAT_ROTATIONS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_LIB_KERNELS_FLOAT_ROTATIONS_INL_H_
#undef SEXTANT_LIB_KERNELS_FLOAT_ROTATIONS_INL_H_
#else
#define SEXTANT_LIB_KERNELS_FLOAT_ROTATIONS_INL_H_
#endif

#include <hwy/highway.h>

#include "lib/kernels/rotations-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

/// Each within float_rotation_error of the real value, for the frequencies from index `first` on, a multiple of the
/// vector's lanes. The position is an integer within +-2^53.
HWY_INLINE Rotation RotationForFloatsAt(const FrequencyPieces& frequencies, std::size_t first, DoubleVector position) {
  const Doubles d;
  const hn::RebindToUnsigned<Doubles> du;
  const DoubleDouble<DoubleVector> leading = TwoProduct(position, hn::LoadU(d, frequencies.high() + first));
  const DoubleVector second = hn::MulAdd(position, hn::LoadU(d, frequencies.middle() + first), leading.low);
  const DoubleVector turns = hn::Add(hn::Sub(leading.high, hn::Round(leading.high)), second);
  // 1.5 * 2^52 leaves the nearest integer in the last bits of the sum, in two's complement.
  const DoubleVector magic = hn::Set(d, 0x1.8p52);
  const DoubleVector shifted = hn::MulAdd(turns, hn::Set(d, 4.0), magic);
  const DoubleVector rest = hn::NegMulAdd(hn::Sub(shifted, magic), hn::Set(d, 0.25), turns);
  // ci/constants: double = 2*pi
  const DoubleVector a = hn::Mul(rest, hn::Set(d, 0x1.921fb54442d18p+2));
  const DoubleVector square = hn::Mul(a, a);
  // ci/constants: double double = -1/factorial(11), 1/factorial(9)
  DoubleVector sine = hn::MulAdd(square, hn::Set(d, -1.0 / 39916800), hn::Set(d, 1.0 / 362880));
  // ci/constants: double double double = -1/factorial(7), 1/factorial(5), -1/factorial(3)
  sine = hn::MulAdd(square, sine, hn::Set(d, -1.0 / 5040));
  sine = hn::MulAdd(square, sine, hn::Set(d, 1.0 / 120));
  sine = hn::MulAdd(square, sine, hn::Set(d, -1.0 / 6));
  sine = hn::MulAdd(hn::Mul(a, square), sine, a);
  // ci/constants: double double = -1/factorial(10), 1/factorial(8)
  DoubleVector cosine = hn::MulAdd(square, hn::Set(d, -1.0 / 3628800), hn::Set(d, 1.0 / 40320));
  // ci/constants: double double double = -1/factorial(6), 1/factorial(4), -1/factorial(2)
  cosine = hn::MulAdd(square, cosine, hn::Set(d, -1.0 / 720));
  cosine = hn::MulAdd(square, cosine, hn::Set(d, 1.0 / 24));
  cosine = hn::MulAdd(square, cosine, hn::Set(d, -0.5));
  cosine = hn::MulAdd(square, cosine, hn::Set(d, 1.0));
  // An odd number of quarters exchanges them; those from 2 on negate the sine, 1 and 2 the cosine.
  const auto quarters = hn::BitCast(du, shifted);
  const auto odd = hn::MaskFromVec(hn::BitCast(d, hn::Sub(hn::Zero(du), hn::And(quarters, hn::Set(du, 1)))));
  const auto negated = [&](DoubleVector value, hn::Vec<decltype(du)> by) HWY_ATTR {
    return hn::Xor(value, hn::BitCast(d, hn::And(hn::ShiftLeft<62>(by), hn::Set(du, std::uint64_t{1} << 63))));
  };
  return {negated(hn::IfThenElse(odd, cosine, sine), quarters),
          negated(hn::IfThenElse(odd, sine, cosine), hn::Add(quarters, hn::Set(du, 1)))};
}

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
