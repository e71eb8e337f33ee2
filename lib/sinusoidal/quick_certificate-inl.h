// A certificate for whole vectors at a few integer operations a value, for one Highway target: included inside
// HWY_NAMESPACE by a file that is compiled once per target.
//
//   1. float32: the bits of each double that rounding drops tell whether a tie is near; the floats, whether one is too
//      small. Both are joined over the vectors of a step of the loop, and asked for once.
//   2. 16 bits: the bits of each float that the second rounding drops tell whether it is a tie; the elements, whether
//      one is too small.
//
// The values are doubles of a circle of radius s, each within 6 u s of the truth, u = 2^-53: why they and the truth
// then round alike is docs/proofs/quick-certificate.md. What is not certain, 2e-4 of the values for float32 and
// float16 and 2e-5 for bfloat16, has to be looked at with care.

#if defined(SEXTANT_LIB_NUMERIC_QUICK_CERTIFICATE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_LIB_NUMERIC_QUICK_CERTIFICATE_INL_H_
#undef SEXTANT_LIB_NUMERIC_QUICK_CERTIFICATE_INL_H_
#else
#define SEXTANT_LIB_NUMERIC_QUICK_CERTIFICATE_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "lib/kernels/certify-inl.h"
#include "lib/kernels/rotations-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

/// The scales that the certificates are for: of their values none overflows the type.
template <class Type>
bool SuitsQuickCertificate(double scale) {
  return std::fabs(scale) >= (Type::dtype == Dtype::float16 ? 0.5 : 0x1p-14) && std::ilogb(1.5 * scale) <= 13;
}

/// The e of the proof. Where 1.5 s is rounded up to a power of two it is the greater one, which the argument has room
/// for.
inline int ExponentOfScale(double scale) { return std::ilogb(1.5 * scale); }

#if HWY_TARGET != HWY_SCALAR

/// Two vectors of pairs, or one twice.
struct TwoRotations {
  Rotation first;
  Rotation later;
};

#if HWY_TARGET <= HWY_AVX3

/// For float32, steps 1, 2 and 4, where tests give masks: an addition and a test for each vector of low words, each
/// masked by the one before, one operation for the lesser magnitudes of two vectors of floats, and one comparison of
/// what is left. Highway has neither the masked test nor the lesser magnitude.
template <class Type>
class QuickCertificate {
 public:
  using D = hn::Repartition<std::int32_t, Doubles>;
  using DF = hn::Repartition<float, Doubles>;
  using Floats = hn::Vec<hn::Repartition<std::uint32_t, Doubles>>;
  /// `clear` has the lanes without a tie near, `least` the least magnitudes.
  struct Marks {
    __mmask16 clear;
    hn::Vec<DF> least;
  };

  explicit QuickCertificate(double scale) : least_(hn::Set(DF(), std::ldexp(1.0F, ExponentOfScale(scale) - 13))) {}

  /// As below.
  HWY_INLINE Marks MarksOf(const TwoRotations& values, Floats first, Floats second) const {
    const DF df;
    const __mmask16 clear = Clear(0xFFFF, LowWords(values.first.sin, values.first.cos));
    return {Clear(clear, LowWords(values.later.sin, values.later.cos)),
            LeastOf(hn::BitCast(df, first), hn::BitCast(df, second))};
  }

  static HWY_INLINE Marks Join(const Marks& a, const Marks& b) {
    return {static_cast<__mmask16>(a.clear & b.clear), LeastOf(a.least, b.least)};
  }

  HWY_INLINE bool AllCertain(const Marks& marks) const {
    return _mm512_mask_cmp_ps_mask(marks.clear, marks.least.raw, least_.raw, _CMP_GT_OQ) == 0xFFFF;
  }

 private:
  static HWY_INLINE __mmask16 Clear(__mmask16 before, hn::Vec<D> low_words) {
    const D d;
    const auto moved = hn::Add(low_words, hn::Set(d, (1 << 28) + (1 << 15)));
    return _mm512_mask_test_epi32_mask(before, moved.raw, hn::Set(d, (1 << 29) - (1 << 16)).raw);
  }

  static HWY_INLINE hn::Vec<DF> LeastOf(hn::Vec<DF> a, hn::Vec<DF> b) {
    return hn::Vec<DF>{_mm512_range_ps(a.raw, b.raw, 0xA)};
  }

  hn::Vec<DF> least_;
};

#else

/// For float32, steps 1, 2 and 4.
template <class Type>
class QuickCertificate {
 public:
  using D = hn::Repartition<std::int32_t, Doubles>;
  using Floats = hn::Vec<hn::Repartition<std::uint32_t, Doubles>>;
  /// `from_tie` is 0 where a tie is near, `magnitude` has bit 30 where a value is not too small.
  struct Marks {
    hn::Vec<D> from_tie;
    hn::Vec<D> magnitude;
  };

  /// For values within 6 * 2^-53 |scale| of the truth, and not above |scale| by more.
  explicit QuickCertificate(double scale) : to_bit_30_(hn::Set(D(), (14 - ExponentOfScale(scale)) * (1 << 23) - 1)) {}

  /// The marks of two vectors. `first` and `second` are the bits of the floats that they round to, each in any order
  /// but of one of the vectors, or one half of each.
  HWY_INLINE Marks MarksOf(const TwoRotations& values, Floats first, Floats second) const {
    const Marks a = MarksOf(LowWords(values.first.sin, values.first.cos), first);
    const Marks b = MarksOf(LowWords(values.later.sin, values.later.cos), second);
    return Join(a, b);
  }

  static HWY_INLINE Marks Join(const Marks& a, const Marks& b) {
    return {hn::Min(a.from_tie, b.from_tie), hn::And(a.magnitude, b.magnitude)};
  }

  /// Whether all values that went into the marks round as the truth does.
  static HWY_INLINE bool AllCertain(const Marks& marks) {
    const D d;
    const auto bit_30 = hn::Set(d, 1 << 30);
    return hn::AllTrue(d, hn::Gt(hn::Or(hn::And(marks.magnitude, bit_30), marks.from_tie), bit_30));
  }

 private:
  HWY_INLINE Marks MarksOf(hn::Vec<D> low_words, Floats floats) const {
    const D d;
    return {hn::And(hn::Add(low_words, hn::Set(d, (1 << 28) + (1 << 15))), hn::Set(d, (1 << 29) - (1 << 16))),
            hn::Add(hn::BitCast(d, floats), to_bit_30_)};
  }

  hn::Vec<D> to_bit_30_;
};

#endif

#if HWY_TARGET <= HWY_AVX3

/// For float16, steps 1, 3 and 4, where tests give masks: of two vectors of floats the lower words are put together,
/// and each test is masked by the one before.
template <>
class QuickCertificate<Float16> {
 public:
  using D = hn::Repartition<std::uint16_t, Doubles>;
  using Floats = hn::Vec<hn::Repartition<std::uint32_t, Doubles>>;
  /// The words that are certain.
  using Marks = __mmask32;

  explicit QuickCertificate(double scale) : least_(hn::Set(D(), LeastMagnitude(ExponentOfScale(scale)))) {}

  /// As below.
  HWY_INLINE Marks MarksOf(Floats first, Floats second, hn::Vec<D> elements) const {
    const D d;
    // A tie has the highest of the 13 bits alone, which the addition clears.
    const auto moved = hn::Add(LowerWords(first, second), hn::Set(d, 0x1000));
    const __mmask32 clear = _mm512_test_epi16_mask(moved.raw, hn::Set(d, 0x1FFF).raw);
    return _mm512_mask_cmpgt_epu16_mask(clear, hn::Add(elements, elements).raw, least_.raw);
  }

  static HWY_INLINE Marks Join(Marks a, Marks b) { return a & b; }

  static HWY_INLINE bool AllCertain(Marks marks) { return marks == 0xFFFFFFFF; }

 private:
  /// In no order.
  static HWY_INLINE hn::Vec<D> LowerWords(Floats first, Floats second) {
    alignas(64) static constexpr std::uint16_t order[32] = {0,  2,  4,  6,  8,  10, 12, 14, 16, 18, 20,
                                                            22, 24, 26, 28, 30, 32, 34, 36, 38, 40, 42,
                                                            44, 46, 48, 50, 52, 54, 56, 58, 60, 62};
    return hn::Vec<D>{_mm512_permutex2var_epi16(first.raw, hn::Load(D(), order).raw, second.raw)};
  }

  /// Twice the bits of 2^(e-26), or of the least normal value where that is greater.
  static std::uint16_t LeastMagnitude(int e) { return static_cast<std::uint16_t>((std::max(e - 26, -14) + 15) << 11); }

  hn::Vec<D> least_;
};

#endif

/// For 16 bits, steps 1, 3 and 4.
template <class Type>
requires(sizeof(typename Type::Element) == 2) class QuickCertificate<Type> {
 public:
  using D = hn::Repartition<std::uint16_t, Doubles>;
  using Floats = hn::Vec<hn::Repartition<std::uint32_t, Doubles>>;
  /// `from_tie` is 0 in a word of a float that is a tie; `magnitude` is twice that of elements, as integers.
  struct Marks {
    hn::Vec<D> from_tie;
    hn::Vec<D> magnitude;
  };

  explicit QuickCertificate(double scale) : least_(hn::Set(D(), LeastMagnitude(ExponentOfScale(scale)))) {}

  /// The marks of two vectors of floats and of `elements`, what they round to, each in any order.
  HWY_INLINE Marks MarksOf(Floats first, Floats second, hn::Vec<D> elements) const {
    return {hn::Min(FromTie(first), FromTie(second)), hn::Add(elements, elements)};
  }

  static HWY_INLINE Marks Join(const Marks& a, const Marks& b) {
    return {hn::Min(a.from_tie, b.from_tie), hn::Min(a.magnitude, b.magnitude)};
  }

  HWY_INLINE bool AllCertain(const Marks& marks) const {
    const D d;
    const auto certain = hn::Min(marks.from_tie, hn::SaturatedSub(marks.magnitude, least_));
    return hn::AllFalse(d, hn::Eq(certain, hn::Zero(d)));
  }

 private:
  /// Of a tie the lower word is 0, and so is the upper one of nothing that is large enough.
  static HWY_INLINE hn::Vec<D> FromTie(Floats floats) {
    const hn::DFromV<Floats> du;
    if constexpr (Type::dtype == Dtype::bfloat16) return hn::BitCast(D(), BFloat16InUpperHalf(floats));
    return hn::BitCast(D(), hn::And(hn::Xor(floats, hn::Set(du, 0x1000)), hn::Set(du, ~0xE000U)));
  }

  /// Twice the bits of 2^(e-26), or of the least normal value where that is greater.
  static std::uint16_t LeastMagnitude(int e) {
    if constexpr (Type::dtype == Dtype::bfloat16) return static_cast<std::uint16_t>((e - 26 + 127) << 8);
    return static_cast<std::uint16_t>((std::max(e - 26, -14) + 15) << 11);
  }

  hn::Vec<D> least_;
};

#endif

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
