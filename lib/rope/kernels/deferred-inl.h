// Turns the heads of one token by a quick tier that leaves a vector in ten or twenty open, for one Highway target.
// Included inside HWY_NAMESPACE by a file that is compiled once per target.
//
//   1. Every vector is turned and written, open or not, and leaves a copy of its elements where the next one's will be
//      unless it is open: no branch depends on it.
//   2. When the copies fill their array, and at the end, they are turned again, first by the tier's Mend, then by the
//      kernel itself (run-inl.h).
//
// docs/proofs/rope.md, steps 9 to 14, has the certificates.

#if defined(SEXTANT_LIB_ROPE_KERNELS_DEFERRED_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_LIB_ROPE_KERNELS_DEFERRED_INL_H_
#undef SEXTANT_LIB_ROPE_KERNELS_DEFERRED_INL_H_
#else
#define SEXTANT_LIB_ROPE_KERNELS_DEFERRED_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

#include "lib/rope/kernels/run-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

// Vectors that a quick tier leaves open, for later: their elements before, which y may have overwritten.
template <class Element>
struct Deferred {
  static constexpr std::size_t most = 16;
  static constexpr std::size_t lanes = 64 / sizeof(Element);
  alignas(64) Element x[most][2 * lanes];
  Element* y0[most];
  Element* y1[most];
  std::size_t pair[most];
  std::uint64_t pairs[most];  // a bit for each that is open
};

// Turns what was deferred.
template <class Kernel, Pairing in, Pairing out>
HWY_NOINLINE void TurnDeferred(const RowFor<Kernel>& row, const Deferred<ElementOf<Kernel>>& open, std::size_t count) {
  using Quick = typename QuickTier<Kernel>::Quick;
  const std::size_t lanes = hn::Lanes(typename Quick::DE());
  for (std::size_t k = 0; k < count; ++k) {
    const auto* const x0 = open.x[k];
    const auto* const x1 = x0 + lanes;
    const std::size_t pair = open.pair[k];
    if (!Quick::template Mend<in, out>(row, pair, open.pairs[k], x0, x1, open.y0[k], open.y1[k]))
      TurnPairs<Kernel, Rounding::certified, in, out>(row, pair, pair + lanes, x0, x1, open.y0[k], open.y1[k]);
  }
}

// As TurnQuickly, for a tier that leaves a vector in ten or twenty open: each would make the processor take the wrong
// way and forget the work that it had found ahead, which takes longer than to turn a vector. All are written, and those
// that are open are turned again behind, from the copy that every vector leaves where the next one's will be unless it
// is open.
template <class Kernel, Pairing in, Pairing out, Caching caching>
HWY_NOINLINE void TurnDeferring(const RowFor<Kernel>& row, std::size_t whole,
                                const HeadsOfToken<ElementOf<Kernel>>& work) {
  using Quick = typename QuickTier<Kernel>::Quick;
  const typename Quick::DE de;
  const std::size_t lanes = hn::Lanes(de);
  auto pointers = PointersAt<in, out>(work, {0, 0});
  const Quick quick(row);
  Deferred<ElementOf<Kernel>> open;
  std::size_t k = 0;
  std::int64_t head = 0;
  std::size_t i = 0;
  const ElementOf<Kernel>* first = nullptr;
  const ElementOf<Kernel>* second = nullptr;
  const auto begin = [&]() HWY_ATTR {
    first = pointers.x0 + channel_step<in> * i;
    second = in == Pairing::half ? pointers.x1 + i : first + lanes;
    PrefetchAhead(first);
    PrefetchAhead(second);
    return quick.template Begin<Rounding::certified, in, out>(row, i, first, second);
  };
  auto begun = begin();
  while (head != work.heads) {
    hn::Store(hn::LoadU(de, first), de, open.x[k]);
    hn::Store(hn::LoadU(de, second), de, open.x[k] + lanes);
    open.pair[k] = i;
    auto* const y0 = pointers.y0 + channel_step<out> * i;
    auto* const y1 = pointers.y1 + i;
    open.y0[k] = y0;
    open.y1[k] = y1;
    i += lanes;
    if (i == whole) {
      i = 0;
      ++head;
      pointers.x0 += work.x_stride;
      pointers.x1 += work.x_stride;
      pointers.y0 += work.y_stride;
      pointers.y1 += work.y_stride;
    }
    const auto ending = begun;
    if (head != work.heads) begun = begin();
    const std::uint64_t pairs = quick.template Put<in, out, caching>(ending, y0, y1);
    open.pairs[k] = pairs;
    k += (pairs + 0xFFFFFFFF) >> 32;  // 1 if any is: a condition would become a branch again
    if (HWY_UNLIKELY(k == open.most)) {
      TurnDeferred<Kernel, in, out>(row, open, k);
      k = 0;
    }
  }
  TurnDeferred<Kernel, in, out>(row, open, k);
}

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
