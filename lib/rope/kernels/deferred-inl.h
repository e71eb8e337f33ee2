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
#include <type_traits>

#include "lib/rope/kernels/run-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

inline constexpr std::size_t most_deferred = 16;

// The elements before of vectors that are left open, which y may have overwritten.
template <class DE>
class CopiedPairs {
 public:
  using Element = hn::TFromD<DE>;
  HWY_INLINE void Keep(std::size_t k, const Element* first, const Element* second) {
    const DE de;
    hn::Store(hn::LoadU(de, first), de, copies_[k]);
    hn::Store(hn::LoadU(de, second), de, copies_[k] + hn::Lanes(de));
  }
  const Element* First(std::size_t k) const { return copies_[k]; }
  const Element* Second(std::size_t k) const { return copies_[k] + hn::Lanes(DE()); }

 private:
  alignas(64) Element copies_[most_deferred][2 * 64 / sizeof(Element)];
};

// The same of another type than y's, which is apart from them.
template <class From>
class PairsApart {
 public:
  HWY_INLINE void Keep(std::size_t k, const From* first, const From* second) {
    firsts_[k] = first;
    seconds_[k] = second;
  }
  const From* First(std::size_t k) const { return firsts_[k]; }
  const From* Second(std::size_t k) const { return seconds_[k]; }

 private:
  const From* firsts_[most_deferred];
  const From* seconds_[most_deferred];
};

// Vectors that a quick tier leaves open, for later.
template <class Quick>
struct Deferred {
  using Element = typename Quick::Element;
  using From = typename Quick::From;
  static constexpr std::size_t most = most_deferred;
  std::conditional_t<std::is_same_v<From, Element>, CopiedPairs<typename Quick::DE>, PairsApart<From>> x;
  Element* y0[most];
  Element* y1[most];
  std::size_t pair[most];
  std::uint64_t pairs[most];  // a bit for each that is open
};

// Turns what was deferred.
template <class Kernel, Pairing in, Pairing out>
HWY_NOINLINE void TurnDeferred(const RowFor<Kernel>& row, const Deferred<typename QuickTier<Kernel>::Quick>& open,
                               std::size_t count) {
  using Quick = typename QuickTier<Kernel>::Quick;
  const std::size_t lanes = hn::Lanes(typename Quick::DE());
  for (std::size_t k = 0; k < count; ++k) {
    const auto* const x0 = open.x.First(k);
    const auto* const x1 = open.x.Second(k);
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
                                const HeadsOfToken<FromOf<Kernel>, ElementOf<Kernel>>& work) {
  using Quick = typename QuickTier<Kernel>::Quick;
  const std::size_t lanes = hn::Lanes(typename Quick::DE());
  constexpr std::size_t most_lanes = hn::MaxLanes(typename Quick::DE());
  auto pointers = PointersAt<in, out>(work, {0, 0});
  const Quick quick(row);
  Deferred<Quick> open;
  std::size_t k = 0;
  std::int64_t head = 0;
  std::size_t i = 0;
  const FromOf<Kernel>* first = nullptr;
  const FromOf<Kernel>* second = nullptr;
  const auto begin = [&]() HWY_ATTR {
    first = pointers.x0 + channel_step<in> * i;
    second = in == Pairing::half ? pointers.x1 + i : first + lanes;
    PrefetchLinesAhead<most_lanes>(first);
    PrefetchLinesAhead<most_lanes>(second);
    return quick.template Begin<Rounding::certified, in, out>(row, i, first, second);
  };
  auto begun = begin();
  while (head != work.heads) {
    open.x.Keep(k, first, second);
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
