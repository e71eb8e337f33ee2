// Which floats may not be rounded again to 16 bits, for one Highway target: included inside HWY_NAMESPACE by a file
// that is compiled once per target.
//
// A float that is nearest to a number rounds to 16 bits as the number does unless it is a tie between two values of the
// type: every tie is a float, so that none lies between the two (docs/proofs/rope.md, step 23).

#if defined(SEXTANT_LIB_KERNELS_ROUND_AGAIN_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_LIB_KERNELS_ROUND_AGAIN_INL_H_
#undef SEXTANT_LIB_KERNELS_ROUND_AGAIN_INL_H_
#else
#define SEXTANT_LIB_KERNELS_ROUND_AGAIN_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "lib/kernels/certify-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR

/// Ties, NaN and what is subnormal in float16. (There the dropped bits are more; in bfloat16 they are the same.)
template <class Type, class DF>
HWY_INLINE hn::Mask<DF> RoundsByItself(Type, DF df, hn::Vec<DF> value) {
  constexpr bool is_float16 = Type::dtype == Dtype::float16;
  const hn::RebindToUnsigned<DF> du;
  const auto dropped = hn::And(hn::BitCast(du, value), hn::Set(du, is_float16 ? 0x1FFFU : 0xFFFFU));
  const auto tie = hn::RebindMask(df, hn::Eq(dropped, hn::Set(du, is_float16 ? 0x1000U : 0x8000U)));
  if constexpr (!is_float16) return hn::Or(tie, hn::IsNaN(value));
  const auto size = hn::Abs(value);
  const auto small = hn::And(hn::Lt(size, hn::Set(df, 0x1p-14F)), hn::Gt(size, hn::Zero(df)));
  return hn::Or(hn::Or(tie, hn::IsNaN(value)), small);
}

/// Whether one of two vectors has such.
template <class Type, class DF>
HWY_INLINE bool AnyRoundsByItself(Type type, DF df, hn::Vec<DF> earlier, hn::Vec<DF> later) {
#if HWY_TARGET <= HWY_AVX3
  if constexpr (Type::dtype == Dtype::bfloat16 && sizeof(earlier) == 64) {
    // A tie of bfloat16 and half a unit have no bits in the lower half, as in RoundFloatsAgain; a comparison without
    // order finds a NaN on either side.
    const hn::RebindToUnsigned<DF> du;
    const auto lower = hn::Set(du, 0xFFFFU);
    const auto tie = [&](hn::Vec<DF> value) HWY_ATTR {
      return _mm512_testn_epi32_mask(BFloat16InUpperHalf(hn::BitCast(du, value)).raw, lower.raw);
    };
    const __mmask16 nan = _mm512_cmp_ps_mask(earlier.raw, later.raw, _CMP_UNORD_Q);
    return (tie(earlier) | tie(later) | nan) != 0;
  }
#endif
  return !hn::AllFalse(df, hn::Or(RoundsByItself(type, df, earlier), RoundsByItself(type, df, later)));
}

#endif

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
