// A certificate for whole vectors at a few integer operations a value, for one Highway target: included inside HWY_NAMESPACE by a file that is
// compiled once per target.
//
// Of a double, the last `cut` bits decide how it rounds to the type: 29 for float32, 42 and 45 for normal values of float16 and bfloat16. A tie
// has 2^(cut-1) there. In units of the double's last place, a value that is b = 2^margin or more away from every tie rounds as all reals within b
// of it do: no tie lies between them. (Across a power of two the units change, but the nearest tie is 2^(cut-2) of the larger ones away.)
// Adding 2^(cut-1) + b leaves in the last `cut` bits, modulo 2^cut, a number in [0, 2b) exactly where a tie is nearer, so that one of the bits from
// margin + 1 on is set where none is.
//
// The values are those of a circle of radius s, 2^e <= s < 2^(e+1), each known within 2^-50 s < 2^(e-49). From 2^(e-12) on a unit is 2^(e-64) or
// more, so that this is less than 2^15 of them. Added to the exponent, 13 - e sets bit 62 exactly for these: it then is 2^10 or more, but
// less than 2^11. One unit of the type less keeps the addition above from carrying a smaller value over that edge.
//
//   float32           margin = 15
//   16 bits           they pass through float32, which moves them by 2^28 units at most, half a float32's own; 2^28 + 2^15 of them leave them
//                     within the same two ties, so that two roundings are one: margin = 29
//
// What is not certain, 3e-4 of the values for float32, has to be looked at by Certify. For scales from 1/4 to 2^14, so that the values that are let in
// are normal in each type.

#if defined(SEXTANT_LIB_NUMERIC_QUICK_CERTIFICATE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_LIB_NUMERIC_QUICK_CERTIFICATE_INL_H_
#undef SEXTANT_LIB_NUMERIC_QUICK_CERTIFICATE_INL_H_
#else
#define SEXTANT_LIB_NUMERIC_QUICK_CERTIFICATE_INL_H_
#endif

#include <hwy/highway.h>

#include <cmath>
#include <cstdint>

#include "lib/numeric/certify-inl.h"
#include "lib/numeric/rotations-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

template <class Type>
class QuickCertificate {
 public:
  using D = hn::RebindToUnsigned<Doubles>;
  using Marks = hn::Vec<D>;

  static bool Suits(double scale) { return std::fabs(scale) >= 0.25 && std::fabs(scale) <= 0x1p14; }

  /// For values within 2^-50 |scale| of the truth, and not above |scale| by more. `scale` is one that suits.
  explicit QuickCertificate(double scale)
      : nudge_(hn::Set(D(), (static_cast<std::uint64_t>(13 - std::ilogb(scale)) << 52) - far + (far >> 1) + (std::uint64_t{1} << margin))) {}

  /// The marks of a vector's sines and cosines.
  HWY_INLINE Marks MarksOf(const Rotation& values) const { return hn::And(MarksOf(values.sin), MarksOf(values.cos)); }

  static HWY_INLINE Marks Join(Marks a, Marks b) { return hn::And(a, b); }

  /// Whether all values that went into the marks round as the truth does.
  static HWY_INLINE bool AllCertain(Marks marks) {
    const D d;
    const auto wanted = hn::Set(d, large | far);
    return hn::AllTrue(d, hn::Eq(hn::And(marks, wanted), wanted));
  }

 private:
  HWY_INLINE Marks MarksOf(DoubleVector value) const {
    const D d;
    const auto nudged = hn::And(hn::Add(hn::BitCast(d, value), nudge_), hn::Set(d, large | near));
    // Carries into bit `cut` unless all the bits below are 0.
    return hn::Add(nudged, hn::Set(d, near));
  }

  static constexpr int cut = Type::dtype == Dtype::float32 ? 29 : Type::dtype == Dtype::float16 ? 42 : 45;
  static constexpr int margin = Type::dtype == Dtype::float32 ? 15 : 29;
  static constexpr std::uint64_t large = std::uint64_t{1} << 62;
  static constexpr std::uint64_t far = std::uint64_t{1} << cut;
  static constexpr std::uint64_t near = far - (std::uint64_t{2} << margin);

  Marks nudge_;
};

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
