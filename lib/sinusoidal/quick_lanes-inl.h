// Rows of the sinusoidal encoding with the quick certificate where Highway has one lane a vector, plain C++: what
// quick_rows-inl.h and quick_certificate-inl.h are for wider ones, included inside HWY_NAMESPACE by a file that is
// compiled once per target.
//
// A row is made in groups of pairs, by loops over arrays that compilers make vectors of where they have some, SSE2's
// say. They would unroll them before they look at that, unless told by the pragmas.
//   1. The anchors are turned by the row's step, in double (MultiplyInDouble's products).
//   2. Each value is rounded to float, and that to the type. A tie of bfloat16 and a value too small for float16's
//      normal numbers are rounded wrongly here.
//   3. The certificate looks at the same bits as that for vectors, and the marks of the group are joined: where they
//      are not certain, which includes those of 2, the group is done again with care, a pair at a time.
// The proof is docs/proofs/quick-certificate.md, for values within 6 u s: docs/proofs/sinusoidal-rows.md, step 3.

#if defined(SEXTANT_LIB_SINUSOIDAL_QUICK_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_LIB_SINUSOIDAL_QUICK_LANES_INL_H_
#undef SEXTANT_LIB_SINUSOIDAL_QUICK_LANES_INL_H_
#else
#define SEXTANT_LIB_SINUSOIDAL_QUICK_LANES_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "lib/sinusoidal/quick_certificate-inl.h"
#include "lib/sinusoidal/row-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

/// Pairs of a group: a StepGroup's.
inline constexpr std::size_t group_pairs = FrequencyPieces::lanes;

/// The certificate of values one by one, steps 1 to 4 of the proof.
template <class Type>
class QuickCertificate {
 public:
  /// For values within 6 * 2^-53 |scale| of the truth, and not above |scale| by more.
  explicit QuickCertificate(double scale) {
    const int e = ExponentOfScale(scale);
    least_ = Type::dtype == Dtype::float32 ? LeastFloat(e - 13)
                                           : LeastFloat(Type::dtype == Dtype::float16 ? std::max(e - 26, -14) : e - 26);
  }

  /// Values, the floats that they round to, as bits, and the elements that those round to, as the low bits.
  struct Group {
    std::array<double, group_pairs> values;
    std::array<std::uint32_t, group_pairs> floats;
    std::array<std::uint32_t, group_pairs> elements;
  };

  /// Rounds the values of a group. 0 if each is certain to be rounded as the truth is.
  HWY_INLINE std::uint32_t Round(Group& group) const {
    std::array<float, group_pairs> nearest;
#pragma omp simd
    for (std::size_t lane = 0; lane < group_pairs; ++lane) nearest[lane] = static_cast<float>(group.values[lane]);
    group.floats = std::bit_cast<std::array<std::uint32_t, group_pairs>>(nearest);
    std::uint32_t uncertain = 0;
#pragma omp simd reduction(| : uncertain)
    for (std::size_t lane = 0; lane < group_pairs; ++lane) {
      const std::uint32_t bits = group.floats[lane];
      const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
      uncertain |= static_cast<std::int32_t>(magnitude) <= least_ ? 1U : 0U;
      if constexpr (Type::dtype == Dtype::float32) {
        group.elements[lane] = bits;
      } else if constexpr (Type::dtype == Dtype::bfloat16) {
        const std::uint32_t sum = bits + 0x8000U;
        uncertain |= (sum & 0xFFFFU) == 0 ? 1U : 0U;
        group.elements[lane] = sum >> 16;
      } else {
        // The exponent's bias is 127 there, 15 here.
        uncertain |= ((bits ^ 0x1000U) & 0x1FFFU) == 0 ? 1U : 0U;
        group.elements[lane] = (magnitude + 0x1000U - (112U << 23)) >> 13 | (bits >> 16 & 0x8000U);
      }
    }
    if constexpr (Type::dtype == Dtype::float32) {
#pragma omp simd reduction(| : uncertain)
      for (std::size_t lane = 0; lane < group_pairs; ++lane) {
        const auto low = static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(group.values[lane]));
        uncertain |= ((low + (1U << 28) + (1U << 15)) & ((1U << 29) - (1U << 16))) == 0 ? 1U : 0U;
      }
    }
    return uncertain;
  }

 private:
  /// The bits of 2^exponent. A float that is not greater is not let in.
  static std::int32_t LeastFloat(int exponent) { return (exponent + 127) * (1 << 23); }

  std::int32_t least_;
};

/// Where a row is from the anchors'.
enum class Side { after, before };

/// Rounds a group of pairs of a row in place, the i-th of the tile and those after it. False if one is not certain.
template <class Type, Order order, Side side>
HWY_INLINE bool PutGroup(const double* HWY_RESTRICT step, const Anchors& anchors, std::size_t i,
                         const RowPlace<Type>& place, const QuickCertificate<Type>& quick) {
  using Element = typename Type::Element;
  using Group = typename QuickCertificate<Type>::Group;
  Group sin, cos;
#pragma omp simd
  for (std::size_t lane = 0; lane < group_pairs; ++lane) {
    const double anchor_sin = anchors.sin_high[i + lane], anchor_cos = anchors.cos_high[i + lane];
    const double step_sin = step[lane], step_cos = step[group_pairs + lane];
    const double sin_cos = anchor_sin * step_cos, cos_sin = anchor_cos * step_sin;
    const double cos_cos = anchor_cos * step_cos, sin_sin = anchor_sin * step_sin;
    sin.values[lane] = side == Side::after ? sin_cos + cos_sin : sin_cos - cos_sin;
    cos.values[lane] = side == Side::after ? cos_cos - sin_sin : cos_cos + sin_sin;
  }
  const std::uint32_t uncertain = quick.Round(sin) | quick.Round(cos);
  if (order == Order::halves) {
    std::array<Element, group_pairs> sines, cosines;
#pragma omp simd
    for (std::size_t lane = 0; lane < group_pairs; ++lane) {
      sines[lane] = static_cast<Element>(sin.elements[lane]);
      cosines[lane] = static_cast<Element>(cos.elements[lane]);
    }
    std::memcpy(place.sin + i, sines.data(), sizeof sines);
    std::memcpy(place.cos + i, cosines.data(), sizeof cosines);
  } else {
    const Group& first = order == Order::sin_cos ? sin : cos;
    const Group& second = order == Order::sin_cos ? cos : sin;
    std::array<Element, 2 * group_pairs> pairs;
#pragma omp simd
    for (std::size_t lane = 0; lane < group_pairs; ++lane) {
      pairs[2 * lane] = static_cast<Element>(first.elements[lane]);
      pairs[2 * lane + 1] = static_cast<Element>(second.elements[lane]);
    }
    std::memcpy(place.sin + 2 * i, pairs.data(), sizeof pairs);
  }
  return uncertain == 0;
}

/// Puts a group of pairs of a row in place again, certified.
template <class Type, Order order, Caching caching>
HWY_NOINLINE bool PutGroupAgain(const RowOf& row, std::size_t i, const RowPlace<Type>& place) {
  bool decided = true;
  for (std::size_t pair = i; pair < i + group_pairs; ++pair)
    decided &= PutCertified<Type, order, caching>(row, TurnedTo<Type>(row, pair), pair, place, pair);
  return decided;
}

template <class Type, Rounding rounding, Order order, Caching caching, Side side>
bool EncodeSide(const RowOf& row, const RowPlace<Type>& place, const QuickCertificate<Type>& quick) {
  bool decided = true;
  for (std::size_t i = 0; i < row.tile.padded; i += group_pairs) {
    const bool certain = PutGroup<Type, order, side>(row.Steps() + 2 * i, row.anchors, i, place, quick);
    // Under Rounding::fast the nearest float is good enough, but what step 2 rounds to 16 bits is not always.
    if (rounding == Rounding::fast && Type::dtype == Dtype::float32) continue;
    if (HWY_UNLIKELY(!certain)) decided &= PutGroupAgain<Type, order, caching>(row, i, place);
  }
  return decided;
}

/// As quick_rows-inl.h has it.
template <class Type, Rounding rounding, Order order, Caching caching>
bool EncodeQuickly(const RowOf& row, const RowPlace<Type>& place, const QuickCertificate<Type>& quick) {
  return row.offset < 0 ? EncodeSide<Type, rounding, order, caching, Side::before>(row, place, quick)
                        : EncodeSide<Type, rounding, order, caching, Side::after>(row, place, quick);
}

#endif

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
