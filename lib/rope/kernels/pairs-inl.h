// Vectors of pairs: how they are read, turned and written, for one Highway target. Included inside HWY_NAMESPACE by a
// file that is compiled once per target.
//
//   1. One vector has the first members of as many pairs as it has lanes, another the second ones: as they lie under
//      Pairing::half, taken apart in registers under Pairing::interleaved.
//   2. y0 = x0 c - x1 s and y1 = x1 c + x0 s are a product and a fused operation each. Bound is |x0| + |x1| times a
//      factor, by which what is lost is measured (docs/proofs/rope.md, steps 1 and 2).
//   3. Pairs that lie side by side in x and y are turned so: x times cosines that each stand twice, and x with its
//      members exchanged times sines of opposite signs.

#if defined(SEXTANT_LIB_ROPE_KERNELS_PAIRS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_LIB_ROPE_KERNELS_PAIRS_INL_H_
#undef SEXTANT_LIB_ROPE_KERNELS_PAIRS_INL_H_
#else
#define SEXTANT_LIB_ROPE_KERNELS_PAIRS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>

#include "lib/kernels/put_vector-inl.h"
#include "lib/kernels/rotations-inl.h"
#include "lib/spec/rope.hpp"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

/// Elements from one pair's first channel to the next one's.
template <Pairing pairing>
inline constexpr std::size_t channel_step = pairing == Pairing::half ? 1 : 2;

/// Whether the elements of a pair lie side by side in x and y, so that they need not be taken apart.
template <Pairing in, Pairing out>
inline constexpr bool side_by_side = in == Pairing::interleaved&& out == Pairing::interleaved;

/// Two vectors of elements, as bits.
template <class V>
struct PairOf {
  V first;
  V second;
};

/// The pairs at the two pointers under Pairing::half, at the first of them under Pairing::interleaved.
template <Pairing pairing, class DE>
HWY_INLINE PairOf<hn::Vec<DE>> LoadPairs(DE de, const hn::TFromD<DE>* first, const hn::TFromD<DE>* second) {
  if constexpr (pairing == Pairing::half) return {hn::LoadU(de, first), hn::LoadU(de, second)};
  PairOf<hn::Vec<DE>> x{hn::Zero(de), hn::Zero(de)};
  hn::LoadInterleaved2(de, first, x.first, x.second);
  return x;
}

/// The reverse; streamed, to addresses that are multiples of a vector.
template <Pairing pairing, Caching caching = Caching::kept, class DE>
HWY_INLINE void StorePairs(DE de, const PairOf<hn::Vec<DE>>& y, hn::TFromD<DE>* first, hn::TFromD<DE>* second) {
  if constexpr (pairing == Pairing::half) {
    PutVector<caching>(y.first, first);
    PutVector<caching>(y.second, second);
#if HWY_TARGET <= HWY_AVX3
  } else if constexpr (sizeof(hn::TFromD<DE>) == 2 && hn::MaxLanes(DE()) == 32) {
    // One permutation for each vector, where Highway takes six.
    alignas(64) static constexpr std::uint16_t lower[32] = {0,  32, 1,  33, 2,  34, 3,  35, 4,  36, 5,
                                                            37, 6,  38, 7,  39, 8,  40, 9,  41, 10, 42,
                                                            11, 43, 12, 44, 13, 45, 14, 46, 15, 47};
    const auto of_lower = hn::Load(de, lower);
    const auto of_upper = hn::Add(of_lower, hn::Set(de, 16));
    using V = hn::Vec<DE>;
    PutVector<caching>(V{_mm512_permutex2var_epi16(y.first.raw, of_lower.raw, y.second.raw)}, first);
    PutVector<caching>(V{_mm512_permutex2var_epi16(y.first.raw, of_upper.raw, y.second.raw)}, first + hn::Lanes(de));
#endif
  } else if constexpr (caching == Caching::kept) {
    hn::StoreInterleaved2(y.first, y.second, de, first);
  } else {
    // Highway interleaves in memory alone.
    alignas(64) hn::TFromD<DE> pairs[2 * HWY_MAX_BYTES / sizeof(hn::TFromD<DE>)];
    hn::StoreInterleaved2(y.first, y.second, de, pairs);
    PutVector<caching>(hn::Load(de, pairs), first);
    PutVector<caching>(hn::Load(de, pairs + hn::Lanes(de)), first + hn::Lanes(de));
  }
}

/// Turned by entries that are in registers already.
template <class V>
HWY_INLINE PairOf<V> TurnedBy(V x0, V x1, V c, V s) {
  return {hn::NegMulAdd(x1, s, hn::Mul(x0, c)), hn::MulAdd(x0, s, hn::Mul(x1, c))};
}

template <class V>
HWY_INLINE PairOf<V> Turned(V x0, V x1, V c, V s) {
  return TurnedBy(x0, x1, ReadOnce(c), ReadOnce(s));
}

#if HWY_TARGET != HWY_SCALAR
/// A vector of elements whose pairs lie side by side, turned by cosines that each stand twice
/// and sines that do so with opposite signs.
template <class D>
HWY_INLINE hn::Vec<D> TurnedTogether(D d, hn::Vec<D> x, hn::Vec<D> c, hn::Vec<D> s) {
  return hn::MulAdd(hn::Reverse2(d, x), s, hn::Mul(x, c));
}
#endif

template <class V>
HWY_INLINE V Bound(V x0, V x1, V factor) {
  return hn::Mul(hn::Add(hn::Abs(x0), hn::Abs(x1)), factor);
}

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
