// A certificate for whole vectors at a few integer operations a value, for one Highway target: included inside
// HWY_NAMESPACE by a file that is compiled once per target.
//
// The values are doubles of a circle of radius s, each within 6 u s of the truth, u = 2^-53: why they and the truth
// then round alike is docs/proofs/quick-certificate.md. What is not certain, 2e-4 of the values for float32, has to be
// looked at by Certify.

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
