// sin and cos of frequency * position for a vector of frequencies, for one Highway target: included inside
// HWY_NAMESPACE by a file that is compiled once per target. No range reduction loses anything: the phase is taken
// modulo one turn exactly, at any position of +-2^54. The bounds are proved in docs/proofs/encoder-rotations.md; steps
// below are its.

#if defined(SEXTANT_LIB_KERNELS_ROTATIONS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_LIB_KERNELS_ROTATIONS_INL_H_
#undef SEXTANT_LIB_KERNELS_ROTATIONS_INL_H_
#else
#define SEXTANT_LIB_KERNELS_ROTATIONS_INL_H_
#endif

#include <hwy/highway.h>

#include "lib/kernels/double_double-inl.h"
#include "lib/kernels/frequency_pieces.hpp"
#include "lib/kernels/rotation_error.hpp"
#include "lib/kernels/unit_circle.hpp"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

/// Vectors of doubles as wide as the target has, up to the padding of FrequencyPieces.
using Doubles = hn::CappedTag<double, FrequencyPieces::lanes>;
using DoubleVector = hn::Vec<Doubles>;

/// sin and cos of the same angles.
struct Rotation {
  DoubleVector sin;
  DoubleVector cos;
};
struct PreciseRotation {
  DoubleDouble<DoubleVector> sin;
  DoubleDouble<DoubleVector> cos;
};

/// Rotations as rows hold them, from entry i on, where a vector may be: in one array for each component, or in two for
/// its high and low parts.
HWY_INLINE Rotation LoadRotation(std::size_t i, const double* cos, const double* sin) {
  return {hn::Load(Doubles(), sin + i), hn::Load(Doubles(), cos + i)};
}

HWY_INLINE void StoreRotation(const Rotation& z, std::size_t i, double* cos, double* sin) {
  hn::Store(z.cos, Doubles(), cos + i);
  hn::Store(z.sin, Doubles(), sin + i);
}

HWY_INLINE PreciseRotation LoadPrecise(std::size_t i, const double* cos, const double* sin, const double* cos_low,
                                       const double* sin_low) {
  const Rotation high = LoadRotation(i, cos, sin);
  const Rotation low = LoadRotation(i, cos_low, sin_low);
  return {{high.sin, low.sin}, {high.cos, low.cos}};
}

HWY_INLINE void StorePrecise(const PreciseRotation& z, std::size_t i, double* cos, double* sin, double* cos_low,
                             double* sin_low) {
  StoreRotation({z.sin.high, z.cos.high}, i, cos, sin);
  StoreRotation({z.sin.low, z.cos.low}, i, cos_low, sin_low);
}

#if HWY_TARGET != HWY_SCALAR
/// The lower words of two vectors of doubles, in no order.
HWY_INLINE hn::Vec<hn::Repartition<std::int32_t, Doubles>> LowWords(DoubleVector a, DoubleVector b) {
  const hn::Repartition<std::int32_t, Doubles> di;
#if HWY_TARGET == HWY_AVX2
  // Within blocks, since the order does not matter; Highway has the operation in order only, which is one more.
  return hn::Vec<decltype(di)>{_mm256_castps_si256(
      _mm256_shuffle_ps(_mm256_castpd_ps(a.raw), _mm256_castpd_ps(b.raw), _MM_SHUFFLE(2, 0, 2, 0)))};
#endif
  return hn::ConcatEven(di, hn::BitCast(di, a), hn::BitCast(di, b));
}
#endif

/// The rotation by both angles: in each component the products are rounded, one of them or, without fused operations,
/// both, and their sum.
HWY_INLINE Rotation Multiply(const Rotation& z, const Rotation& step) {
  return {hn::MulAdd(z.sin, step.cos, hn::Mul(z.cos, step.sin)),
          hn::NegMulAdd(z.sin, step.sin, hn::Mul(z.cos, step.cos))};
}

/// The rotation by both angles, in the Euclidean norm within 29 u^2 of the product, times both moduli: 20 in each
/// component (SumOfProducts; Cauchy).
HWY_INLINE PreciseRotation Multiply(const PreciseRotation& z, const PreciseRotation& step) {
  return {SumOfProducts(z.sin, step.cos, z.cos, step.sin), SumOfProducts(z.cos, step.cos, Negate(z.sin), step.sin)};
}

/// k/512 + rest + low turn: the table's index in [0, 511], and what is left.
struct ReducedPhase {
  hn::Vec<hn::RebindToSigned<Doubles>> index;
  DoubleVector rest;
  DoubleVector low;
};

/// Steps 1 and 2, for the frequencies from index `first` on, a multiple of the vector's lanes.
HWY_INLINE ReducedPhase ReducePhase(const FrequencyPieces& frequencies, std::size_t first, DoubleVector nearest,
                                    double excess_of_all) {
  const Doubles d;
  const DoubleVector f0 = hn::LoadU(d, frequencies.high() + first);
  const DoubleVector f1 = hn::LoadU(d, frequencies.middle() + first);
  const DoubleVector f2 = hn::LoadU(d, frequencies.low() + first);
  const DoubleDouble<DoubleVector> leading = TwoProduct(nearest, f0);
  const DoubleDouble<DoubleVector> second = TwoProduct(nearest, f1);
  const DoubleDouble<DoubleVector> a = TwoSum(hn::Sub(leading.high, hn::Round(leading.high)), leading.low);
  DoubleDouble<DoubleVector> b = TwoSum(a.high, second.high);
  DoubleVector low = hn::Add(hn::Add(a.low, b.low), hn::Add(second.low, hn::Mul(nearest, f2)));
  if (excess_of_all != 0) {
    const DoubleVector excess = hn::Set(d, excess_of_all);
    b = TwoSum(b.high, hn::Mul(excess, f0));
    low = hn::Add(low, hn::Add(b.low, hn::Mul(excess, f1)));
  }
  // 1.5 * 2^52 leaves the nearest integer in the last bits of the sum, in two's complement.
  const DoubleVector magic = hn::Set(d, 0x1.8p52);
  const DoubleVector shifted = hn::Add(hn::Mul(b.high, hn::Set(d, 512.0)), magic);
  const DoubleVector k = hn::Sub(shifted, magic);
  const hn::RebindToSigned<Doubles> di;
  return {hn::And(hn::BitCast(di, shifted), hn::Set(di, 511)), hn::Sub(b.high, hn::Mul(k, hn::Set(d, 1.0 / 512))), low};
}

HWY_INLINE ReducedPhase ReducePhase(const FrequencyPieces& frequencies, std::size_t first, SplitPosition position) {
  return ReducePhase(frequencies, first, hn::Set(Doubles(), position.nearest), position.excess);
}

/// The same for a position of each frequency: integers within +-2^54 that are doubles.
HWY_INLINE ReducedPhase ReducePhase(const FrequencyPieces& frequencies, std::size_t first, DoubleVector positions) {
  return ReducePhase(frequencies, first, positions, 0);
}

/// sin and cos of frequency * position, each within rotation_error of the real value. Position is any that ReducePhase
/// takes.
template <class Position>
HWY_INLINE Rotation RotationAt(const FrequencyPieces& frequencies, std::size_t first, Position position,
                               const UnitCircle& circle) {
  const Doubles d;
  const ReducedPhase phase = ReducePhase(frequencies, first, position);
  // ci/constants: double = 2*pi
  const DoubleVector a = hn::Mul(hn::Add(phase.rest, phase.low), hn::Set(d, 0x1.921fb54442d18p+2));
  const DoubleVector square = hn::Mul(a, a);
  // ci/constants: double double = 1/factorial(5), -1/factorial(3)
  const DoubleVector sine =
      hn::MulAdd(hn::Mul(a, square), hn::MulAdd(square, hn::Set(d, 1.0 / 120), hn::Set(d, -1.0 / 6)), a);
  // ci/constants: double double double = -1/factorial(6), 1/factorial(4), -1/factorial(2)
  const DoubleVector cosine_less_one = hn::Mul(
      square, hn::MulAdd(square, hn::MulAdd(square, hn::Set(d, -1.0 / 720), hn::Set(d, 1.0 / 24)), hn::Set(d, -0.5)));
  const DoubleVector s = hn::GatherIndex(d, circle.sin_high.data(), phase.index);
  const DoubleVector c = hn::GatherIndex(d, circle.cos_high.data(), phase.index);
  return {hn::Add(s, hn::MulAdd(c, sine, hn::Mul(s, cosine_less_one))),
          hn::Add(c, hn::NegMulAdd(s, sine, hn::Mul(c, cosine_less_one)))};
}

HWY_INLINE DoubleDouble<DoubleVector> DoubleDoubleConstant(double high, double low) {
  const Doubles d;
  return {hn::Set(d, high), hn::Set(d, low)};
}

/// The same in double-double, normal, within precise_rotation_error.
template <class Position>
HWY_INLINE PreciseRotation PreciseRotationAt(const FrequencyPieces& frequencies, std::size_t first, Position position,
                                             const UnitCircle& circle) {
  using DD = DoubleDouble<DoubleVector>;
  const Doubles d;
  const ReducedPhase phase = ReducePhase(frequencies, first, position);
  // ci/constants: pair = 2*pi
  const DD a =
      Multiply(TwoSum(phase.rest, phase.low), DoubleDoubleConstant(0x1.921fb54442d18p+2, 0x1.1a62633145c07p-52));
  const DD square = Multiply(a, a);

  // ci/constants: double double = 1/factorial(9), -1/factorial(7)
  const DoubleVector sine_tail =
      hn::Mul(square.high, hn::MulAdd(square.high, hn::Set(d, 1.0 / 362880), hn::Set(d, -1.0 / 5040)));
  // ci/constants: pair = 1/factorial(5)
  const DD one_120th = DoubleDoubleConstant(0x1.1111111111111p-7, 0x1.1111111111111p-63);
  const DD sine_inner = FastTwoSum(one_120th.high, hn::Add(one_120th.low, sine_tail));
  // ci/constants: pair = -1/factorial(3)
  const DD sine_factor =
      Add(DoubleDoubleConstant(-0x1.5555555555555p-3, -0x1.5555555555555p-57), Multiply(square, sine_inner));
  const DD sine = Add(a, Multiply(Multiply(a, square), sine_factor));

  // ci/constants: double double double = -1/factorial(10), 1/factorial(8), -1/factorial(6)
  const DoubleVector cosine_tail = hn::Mul(
      square.high, hn::MulAdd(square.high, hn::MulAdd(square.high, hn::Set(d, -1.0 / 3628800), hn::Set(d, 1.0 / 40320)),
                              hn::Set(d, -1.0 / 720)));
  // ci/constants: pair = 1/factorial(4)
  const DD one_24th = DoubleDoubleConstant(0x1.5555555555555p-5, 0x1.5555555555555p-59);
  const DD cosine_inner = FastTwoSum(one_24th.high, hn::Add(one_24th.low, cosine_tail));
  // ci/constants: double = -1/factorial(2)
  const DD cosine_less_one = Multiply(square, Add(DoubleDoubleConstant(-0.5, 0), Multiply(square, cosine_inner)));

  const DD s{hn::GatherIndex(d, circle.sin_high.data(), phase.index),
             hn::GatherIndex(d, circle.sin_low.data(), phase.index)};
  const DD c{hn::GatherIndex(d, circle.cos_high.data(), phase.index),
             hn::GatherIndex(d, circle.cos_low.data(), phase.index)};
  return {Add(s, Add(Multiply(c, sine), Multiply(s, cosine_less_one))),
          Add(c, Add(Multiply(c, cosine_less_one), Negate(Multiply(s, sine))))};
}

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
