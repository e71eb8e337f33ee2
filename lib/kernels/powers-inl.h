// 2^(g p) for a vector of rates g, for one Highway target: included inside HWY_NAMESPACE by a file that is compiled
// once per target.
//
// The proof, in units of u^2 = 2^-106 relative to the power; p is an integer within +-2^54 that is a double.
//
// 1. g p = n + k/512 + r, n whole, 0 <= k < 512: k and r = rest + low as ReducePhase of rotations-inl.h finds them,
//    whose count, with one turn for one doubling and no excess, is 9 absolutely: ln 2 times that, 6.3.
// 2. n is the integer nearest to g p - (k/512 + rest) in double: g p errs by 2 u |g p|, below 2^-40 while |g p| < 2^12,
//    and what is left out, |low| <= 6u, is nothing beside 1/2. Beyond, the clamp at exponent_limit takes any n to the
//    same side.
// 3. a = r ln 2, a double-double product: |a| < 2^-10.52, 9 |a| < 0.01.
// 4. e^a - 1 = a (1 + a (1/2 + a (1/6 + a q))), q = 1/24 + a (1/120 + a (1/720 + a (1/5040 + a/40320))) in double. The
//    next term is below 2^-94.6-18.4 = 2^-113, 0.01. Relatively q errs by u for 1/24, u for the last addition and less
//    than u for what was added; a's high part by u, their product by u, the sum with the low part of 1/6 by less than u
//    of it: 6 u |a|/24 in all, times |a|^3: below 2^(2.59 - 53 - 42.08 - 4.58) = 2^-97.07,
//    488. The double-double products and sums around it: 20 a^2 + 12 |a|, below 0.02.
// 5. The table 1; its product with step 4, 8 2^-10.5; the last sum 3 (1 + 2^-10.5). In all below 499, so that 512 u^2 =
//    2^-97 holds, second-order terms included. Times 2^n is exact. No underflow before: every term that matters is
//    above 2^-160.

#if defined(SEXTANT_LIB_NUMERIC_POWERS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_LIB_NUMERIC_POWERS_INL_H_
#undef SEXTANT_LIB_NUMERIC_POWERS_INL_H_
#else
#define SEXTANT_LIB_NUMERIC_POWERS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "lib/kernels/powers.hpp"
#include "lib/kernels/rotations-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

/// 2^(g p) of the rates from index `first` on, a multiple of the vector's lanes, in double-double, normal, within
/// power_error; for exponents beyond +-exponent_limit as PowerRates says. `positions` are integers within +-2^54 that
/// are doubles.
HWY_INLINE DoubleDouble<DoubleVector> PowerAt(const PowerRates& rates, std::size_t first, DoubleVector positions,
                                              const BinaryPowers& powers) {
  using DD = DoubleDouble<DoubleVector>;
  const Doubles d;
  const hn::RebindToSigned<Doubles> di;
  const ReducedPhase phase = ReducePhase(rates.fractions(), first, positions);

  // The index as a double: it fills the last bits of 2^52's significand.
  const DoubleVector index =
      hn::Sub(hn::BitCast(d, hn::Or(phase.index, hn::BitCast(di, hn::Set(d, 0x1p52)))), hn::Set(d, 0x1p52));
  const DoubleVector fraction = hn::MulAdd(index, hn::Set(d, 1.0 / 512), phase.rest);
  const DoubleVector whole = hn::Sub(hn::Mul(positions, hn::LoadU(d, rates.rates() + first)), fraction);
  const DoubleVector limit = hn::Set(d, PowerRates::exponent_limit);
  // The sum's last bits are the whole number, and the shift leaves none of the others.
  const DoubleVector shifted = hn::Add(hn::Min(hn::Max(whole, hn::Neg(limit)), limit), hn::Set(d, 0x1.8p52));
  const DoubleVector shift = hn::BitCast(d, hn::ShiftLeft<52>(hn::Add(hn::BitCast(di, shifted), hn::Set(di, 1023))));

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
