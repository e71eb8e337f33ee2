// Turns the heads of one token by its row, for one Highway target. Included inside HWY_NAMESPACE by a file that is
// compiled once per target.
//
//   1. The quick tier turns vector after vector of whole pairs, head after head, and keeps what its certificate passes
//      (docs/proofs/rope.md, steps 9 to 14). A vector is begun before the one ahead of it is ended.
//   2. Results that lie on whole lines apart from x, more than the caches hold, are streamed past them; nothing else
//      about them differs.
//   3. A vector that is left open is done by the kernel itself, whose certificate has both ends of the bound (steps 1
//      and 2) and which leaves pairs to settle.hpp; the quick tier goes on behind it. Where many vectors are, they are
//      remembered and done together.
//   4. Pairs beyond the last whole vector go through memory of our own, filled up with copies of the last.

#if defined(SEXTANT_LIB_ROPE_KERNELS_HEADS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_LIB_ROPE_KERNELS_HEADS_INL_H_
#undef SEXTANT_LIB_ROPE_KERNELS_HEADS_INL_H_
#else
#define SEXTANT_LIB_ROPE_KERNELS_HEADS_INL_H_
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "lib/kernels/line_writer.hpp"
#include "lib/rope/kernels/pairs-inl.h"
#include "lib/rope/kernels/row-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

/// A kernel is one dtype's arithmetic: its Element, Row and dtype; Fill, which makes the row of a token; Turn, which
/// turns a vector of pairs whatever they are; and QuickTier, if a quicker one is worth a try before.
template <class Kernel>
using ElementOf = typename Kernel::Element;
template <class Kernel>
using RowFor = typename Kernel::Row;

/// The quick tier of a kernel, if there is one: Begin and End turn a vector of pairs, unless End refuses it. One that
/// defers has Put in place of End, and Mend for what Put leaves open (TurnDeferring).
template <class Kernel>
struct QuickTier {
  static constexpr bool exists = false;
};

/// What Rounding::fast is done by: as a QuickTier, but that nothing is left open.
template <class Kernel>
struct FastTier : QuickTier<Kernel> {};

// Callers' elements are floats, say, that we read as bits.
template <class Element>
HWY_INLINE void CopyElement(const Element* from, Element* to) {
  std::memcpy(to, from, sizeof(Element));
}

// Zeros, which pad sequences and which no certificate holds for, become zeros, unless powers of pairs ask for their
// signs.
template <class Kernel, Rounding rounding>
HWY_INLINE auto TurnVector(const RowFor<Kernel>& row, std::size_t i, const PairOf<hn::Vec<typename Kernel::DE>>& x) {
  const typename Kernel::DE de;
  const auto magnitude = hn::ShiftLeft<1>(hn::Or(x.first, x.second));
  if (!Kernel::Row::Bounds::of_pairs && HWY_UNLIKELY(hn::AllTrue(de, hn::Eq(magnitude, hn::Zero(de)))))
    return PairOf<hn::Vec<typename Kernel::DE>>{magnitude, magnitude};
  return Kernel::template Turn<rounding>(row, i, x);
}

// Pairs [first, last) of a row: under Pairing::half their first and second channels at the two pointers, else all of
// them at the first. y may be x.
template <class Kernel, Rounding rounding, Pairing in, Pairing out>
HWY_NOINLINE void TurnPairs(const RowFor<Kernel>& row, std::size_t first, std::size_t last, const ElementOf<Kernel>* x0,
                            const ElementOf<Kernel>* x1, ElementOf<Kernel>* y0, ElementOf<Kernel>* y1) {
  using Element = ElementOf<Kernel>;
  const typename Kernel::DE de;
  const std::size_t lanes = hn::Lanes(de);
  const std::size_t count = last - first;
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto x = LoadPairs<in>(de, x0 + channel_step<in> * i, x1 + i);
    StorePairs<out>(de, TurnVector<Kernel, rounding>(row, first + i, x), y0 + channel_step<out> * i, y1 + i);
  }
  if (i == count) return;
  // The rest goes through memory of our own, filled up with copies of its last pair, which is what the row is filled up
  // with.
  const std::size_t rest = count - i;
  constexpr std::size_t most = 16;
  Element firsts[most] = {};
  Element seconds[most] = {};
  for (std::size_t k = 0; k < lanes; ++k) {
    const std::size_t from = i + std::min(k, rest - 1);
    CopyElement(x0 + channel_step<in> * from, firsts + k);
    CopyElement(in == Pairing::half ? x1 + from : x0 + 2 * from + 1, seconds + k);
  }
  const auto y = TurnVector<Kernel, rounding>(row, first + i, LoadPairs<Pairing::half>(de, firsts, seconds));
  StorePairs<Pairing::half>(de, y, firsts, seconds);
  for (std::size_t k = 0; k < rest; ++k) {
    CopyElement(firsts + k, y0 + channel_step<out> * (i + k));
    CopyElement(seconds + k, out == Pairing::half ? y1 + i + k : y0 + 2 * (i + k) + 1);
  }
}

// Where the rotated channels of a token's heads lie.
template <class Element>
struct HeadsOfToken {
  const Element* x0;
  const Element* x1;
  std::int64_t x_stride;
  Element* y0;
  Element* y1;
  std::int64_t y_stride;
  std::int64_t heads;
  Caching caching;  // of the results; streamed where every vector of them lies at a multiple of its size
};

struct Place {
  std::int64_t head = 0;
  std::size_t pair = 0;
};

template <class Element>
struct Pointers {
  const Element* x0;
  const Element* x1;
  Element* y0;
  Element* y1;
};

template <Pairing in, Pairing out, class Element>
HWY_INLINE Pointers<Element> PointersAt(const HeadsOfToken<Element>& work, Place at) {
  const std::int64_t x = at.head * work.x_stride;
  const std::int64_t y = at.head * work.y_stride;
  return {work.x0 + x + channel_step<in> * at.pair, work.x1 + x + at.pair, work.y0 + y + channel_step<out> * at.pair,
          work.y1 + y + at.pair};
}

// Asks for what is so many bytes ahead, further than processors do by themselves where loads come in two streams: a few
// rows of heads, which the first-level cache has room for.
HWY_INLINE void PrefetchAhead(const void* from) {
  constexpr std::uintptr_t bytes_ahead = 8192;
  // A pointer may not lie beyond the end of an array, an address may.
  hwy::Prefetch(reinterpret_cast<const unsigned char*>(reinterpret_cast<std::uintptr_t>(from) +
                                                       bytes_ahead));  // NOLINT(performance-no-int-to-ptr)
}

// Turns the first `whole` pairs, whole vectors, of the heads from a place within them on, until one vector is left open
// by the quick tier, and returns its place, or that of the head after the last. There are no calls in this function, so
// that constants stay in registers. A vector is begun before the one ahead of it is ended: the processor looks only so
// far ahead in the code, and so finds work there that does not wait for this vector's results.
template <class Tier, Rounding rounding, Pairing in, Pairing out, Caching caching, class Row>
HWY_NOINLINE Place TurnQuickly(const Row& row, std::size_t whole,
                               const HeadsOfToken<typename Tier::Quick::Element>& work, Place from) {
  using Quick = typename Tier::Quick;
  const std::size_t lanes = hn::Lanes(typename Quick::DE());
  auto pointers = PointersAt<in, out>(work, {from.head, 0});
  const std::int64_t x_stride = work.x_stride;
  const std::int64_t y_stride = work.y_stride;
  const std::int64_t heads = work.heads;
  const Quick quick(row);
  std::int64_t head = from.head;
  std::size_t i = from.pair;
  const auto begin = [&]() HWY_ATTR {
    const auto* const first = pointers.x0 + channel_step<in> * i;
    const auto* const second = in == Pairing::half ? pointers.x1 + i : first + lanes;
    PrefetchAhead(first);
    PrefetchAhead(second);
    return quick.template Begin<rounding, in, out>(row, i, first, second);
  };
  auto begun = begin();
  for (;;) {
    const Place at{head, i};
    auto* const first_out = pointers.y0 + channel_step<out> * i;
    auto* const second_out = pointers.y1 + i;
    i += lanes;
    if (i == whole) {
      i = 0;
      ++head;
      pointers.x0 += x_stride;
      pointers.x1 += x_stride;
      pointers.y0 += y_stride;
      pointers.y1 += y_stride;
    }
    const auto ending = begun;
    if (head != heads) begun = begin();
    if (HWY_UNLIKELY((!quick.template End<rounding, in, out, caching>(ending, first_out, second_out)))) return at;
    if (head == heads) return {heads, 0};
  }
}

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

template <class Kernel, Rounding rounding, Pairing in, Pairing out>
void TurnHeads(const RowFor<Kernel>& row, std::size_t count, const HeadsOfToken<ElementOf<Kernel>>& work) {
  const auto turn = [&](Place from, std::size_t last) {
    const auto [x0, x1, y0, y1] = PointersAt<in, out>(work, from);
    TurnPairs<Kernel, rounding, in, out>(row, from.pair, last, x0, x1, y0, y1);
  };
  std::size_t whole = 0;
  using Tier = std::conditional_t<rounding == Rounding::fast, FastTier<Kernel>, QuickTier<Kernel>>;
  if constexpr (Tier::exists) {
    const std::size_t lanes = hn::Lanes(typename Tier::Quick::DE());
    whole = row.quick ? count / lanes * lanes : 0;
    // Where channels change places, lines would have to be put together first: those are kept.
    constexpr Caching past = in == out ? Caching::streamed : Caching::kept;
    if constexpr (rounding == Rounding::certified && Tier::Quick::defers) {
      if (whole > 0 && work.heads > 0)
        work.caching == past ? TurnDeferring<Kernel, in, out, past>(row, whole, work)
                             : TurnDeferring<Kernel, in, out, Caching::kept>(row, whole, work);
    }
    const bool any = whole > 0 && !(rounding == Rounding::certified && Tier::Quick::defers);
    for (Place from{any ? 0 : work.heads, 0}; from.head < work.heads;) {
      const Place open = work.caching == past
                             ? TurnQuickly<Tier, rounding, in, out, past>(row, whole, work, from)
                             : TurnQuickly<Tier, rounding, in, out, Caching::kept>(row, whole, work, from);
      if (open.head == work.heads) break;
      // Where it gets nowhere, among zeros for one, the rest of the head is not asked vector by vector.
      const bool stuck = open.head == from.head && open.pair == from.pair;
      const std::size_t next = stuck ? whole : open.pair + lanes;
      turn(open, next);
      from = next == whole ? Place{open.head + 1, 0} : Place{open.head, next};
    }
  }
  if (whole == count) return;
  for (std::int64_t head = 0; head < work.heads; ++head) turn({head, whole}, count);
}

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
