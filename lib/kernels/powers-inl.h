// 2^(g p) for a vector of rates g, for one Highway target: included inside HWY_NAMESPACE by a file that is compiled
// once per target.
//
//   1. g p is a whole number, a multiple of 1/512 and a rest, told exactly (ReducePhase).
//   2. The multiple's power is a table's, the rest's a polynomial, the whole number's an exponent.
//
// Within 512 u^2 = 2^-97 of the power, relatively, in double-double, 1.01 u in double: docs/proofs/encoder-powers.md,
// steps 5 and 6.

#if defined(SEXTANT_LIB_KERNELS_POWERS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_LIB_KERNELS_POWERS_INL_H_
#undef SEXTANT_LIB_KERNELS_POWERS_INL_H_
#else
#define SEXTANT_LIB_KERNELS_POWERS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "lib/kernels/powers.hpp"
#include "lib/kernels/rotations-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

/// 2^n for the whole part n of g p, held at +-exponent_limit; `phase` is g p modulo 1 in its index and rest.
HWY_INLINE DoubleVector PowerOfWholePart(const PowerRates& rates, std::size_t first, DoubleVector positions,
                                         const ReducedPhase& phase) {
  const Doubles d;
  const hn::RebindToSigned<Doubles> di;
  // The index as a double: it fills the last bits of 2^52's significand.
  const DoubleVector index =
      hn::Sub(hn::BitCast(d, hn::Or(phase.index, hn::BitCast(di, hn::Set(d, 0x1p52)))), hn::Set(d, 0x1p52));
  const DoubleVector fraction = hn::MulAdd(index, hn::Set(d, 1.0 / 512), phase.rest);
  const DoubleVector whole = hn::Sub(hn::Mul(positions, hn::LoadU(d, rates.rates() + first)), fraction);
  const DoubleVector limit = hn::Set(d, PowerRates::exponent_limit);
  // The sum's last bits are the whole number, and the shift leaves none of the others.
  const DoubleVector shifted = hn::Add(hn::Min(hn::Max(whole, hn::Neg(limit)), limit), hn::Set(d, 0x1.8p52));
  return hn::BitCast(d, hn::ShiftLeft<52>(hn::Add(hn::BitCast(di, shifted), hn::Set(di, 1023))));
}

/// 2^(g p) of the rates from index `first` on, a multiple of the vector's lanes, normal, within power_error_in_double;
/// for exponents beyond +-exponent_limit as PowerRates says. `positions` are integers within +-2^54 that are doubles.
HWY_INLINE DoubleVector PowerInDoubleAt(const PowerRates& rates, std::size_t first, DoubleVector positions,
                                        const BinaryPowers& powers) {
  const Doubles d;
  const ReducedPhase phase = ReducePhase(rates.fractions(), first, positions);
  // ci/constants: double = ln2
  const DoubleVector a = hn::Mul(hn::Add(phase.rest, phase.low), hn::Set(d, 0x1.62e42fefa39efp-1));
  // ci/constants: double double double = 1/factorial(5), 1/factorial(4), 1/factorial(3)
  DoubleVector q = hn::MulAdd(a, hn::Set(d, 1.0 / 120), hn::Set(d, 1.0 / 24));
  q = hn::MulAdd(a, q, hn::Set(d, 1.0 / 6));
  q = hn::MulAdd(a, q, hn::Set(d, 0.5));
  const DoubleVector growth = hn::MulAdd(hn::Mul(a, a), q, a);
  const DoubleVector high = hn::GatherIndex(d, powers.high.data(), phase.index);
  const DoubleVector low = hn::GatherIndex(d, powers.low.data(), phase.index);
  return hn::Mul(hn::Add(high, hn::MulAdd(high, growth, low)), PowerOfWholePart(rates, first, positions, phase));
}

/// The same in double-double, within power_error.
HWY_INLINE DoubleDouble<DoubleVector> PowerAt(const PowerRates& rates, std::size_t first, DoubleVector positions,
                                              const BinaryPowers& powers) {
  using DD = DoubleDouble<DoubleVector>;
  const Doubles d;
  const ReducedPhase phase = ReducePhase(rates.fractions(), first, positions);
  const DoubleVector shift = PowerOfWholePart(rates, first, positions, phase);

  // ci/constants: pair = ln2
  const DD a =
      Multiply(TwoSum(phase.rest, phase.low), DoubleDoubleConstant(0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56));
  // ci/constants: double double = 1/factorial(8), 1/factorial(7)
  DoubleVector q = hn::MulAdd(a.high, hn::Set(d, 1.0 / 40320), hn::Set(d, 1.0 / 5040));
  // ci/constants: double double double = 1/factorial(6), 1/factorial(5), 1/factorial(4)
  q = hn::MulAdd(a.high, q, hn::Set(d, 1.0 / 720));
  q = hn::MulAdd(a.high, q, hn::Set(d, 1.0 / 120));
  q = hn::MulAdd(a.high, q, hn::Set(d, 1.0 / 24));
  // ci/constants: pair = 1/6
  const DD one_sixth = DoubleDoubleConstant(0x1.5555555555555p-3, 0x1.5555555555555p-57);
  const DD third = FastTwoSum(one_sixth.high, hn::MulAdd(a.high, q, one_sixth.low));
  const DD second = Add(DoubleDoubleConstant(0.5, 0), Multiply(a, third));
  const DD growth = Multiply(a, Add(DoubleDoubleConstant(1, 0), Multiply(a, second)));

  const DD start{hn::GatherIndex(d, powers.high.data(), phase.index),
                 hn::GatherIndex(d, powers.low.data(), phase.index)};
  const DD power = Add(start, Multiply(start, growth));
  return {hn::Mul(power.high, shift), hn::Mul(power.low, shift)};
}

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
