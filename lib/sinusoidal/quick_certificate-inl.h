// A certificate for whole vectors at a few integer operations a value, for one Highway target: included inside
// HWY_NAMESPACE by a file that is compiled once per target.
//
// The values are doubles y of a circle of radius s, each within 6 u s of the truth, u = 2^-53, and their nearest floats
// f. With 2^e <= 1.5 s < 2^(e+1), 6 u s is less than 2^(e-50). Let |f| > 2^(e-13); then |y| >= 2^(e-13), and 2^(e-50)
// is at most 2^15 of y's last places.
//
//   float32   The last 29 bits of y decide how it rounds. A tie has 2^28 there. Where y is 2^15 places or more away
//             from each tie, no tie lies between it and the truth. (Below a power of two places are half as large, but
//             the nearest tie is 2^27 of the larger ones away.) Adding 2^28 + 2^15 leaves in the last 29 bits, modulo
//             2^29, a number below 2^16 exactly where a tie is nearer: one without any of the bits from 16 on.
//   16 bits   y is within half a place of f, and the truth within 2^-14 more. An f that is not a tie of the type is a
//             place away from each tie, so that f, y and the truth lie between the same two, and two roundings are one.
//             The last 13 or 16 bits of f decide; of a tie the first alone is set.
//
// Added to the exponent of f, 14 - e sets bit 30 from 2^(e-13) on, and with one less of its last place only above that.
// At e = 14 the sum for f = 0 would be -1, which has bit 30: scales end below it, at 1.5 s < 2^14.
//
// What is not certain, 2e-4 of the values for float32, has to be looked at by Certify. Scales are such that the values
// that are let in are normal in the type.

#if defined(SEXTANT_LIB_NUMERIC_QUICK_CERTIFICATE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_LIB_NUMERIC_QUICK_CERTIFICATE_INL_H_
#undef SEXTANT_LIB_NUMERIC_QUICK_CERTIFICATE_INL_H_
#else
#define SEXTANT_LIB_NUMERIC_QUICK_CERTIFICATE_INL_H_
#endif

#include <hwy/highway.h>

#include <cmath>
#include <cstdint>

#include "lib/kernels/certify-inl.h"
#include "lib/kernels/rotations-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR

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

  static bool Suits(double scale) {
    return std::fabs(scale) >= (Type::dtype == Dtype::float16 ? 0.5 : 0x1p-14) && ExponentOf(scale) <= 13;
  }

  /// For values within 6 * 2^-53 |scale| of the truth, and not above |scale| by more. `scale` is one that suits.
  explicit QuickCertificate(double scale) : to_bit_30_(hn::Set(D(), (14 - ExponentOf(scale)) * (1 << 23) - 1)) {}

  /// The marks of a vector's sines and cosines. `floats` are the bits of those that they round to, in any order.
  HWY_INLINE Marks MarksOf([[maybe_unused]] const Rotation& values, Floats floats) const {
    const D d;
    const auto bits = hn::BitCast(d, floats);
    const auto magnitude = hn::Add(bits, to_bit_30_);
    if constexpr (Type::dtype == Dtype::float32) {
      return {hn::And(hn::Add(LowWords(values.sin, values.cos), hn::Set(d, (1 << 28) + (1 << 15))),
                      hn::Set(d, (1 << 29) - (1 << 16))),
              magnitude};
    } else {
      constexpr int cut = Type::dtype == Dtype::float16 ? 13 : 16;
      return {hn::And(hn::Add(bits, hn::Set(d, 1 << (cut - 1))), hn::Set(d, (1 << cut) - 1)), magnitude};
    }
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
  /// e. Where 1.5 s is rounded up to a power of two it is the greater one, which the argument above has room for.
  static int ExponentOf(double scale) { return std::ilogb(1.5 * scale); }

  hn::Vec<D> to_bit_30_;
};

#endif

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
