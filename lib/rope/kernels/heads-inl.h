// Turns the heads of one token by its row, for one Highway target. Included inside HWY_NAMESPACE by a file that is
// compiled once per target.
//
//   1. The quick tier turns vector after vector of whole pairs, head after head, and keeps what its certificate passes
//      (docs/proofs/rope.md, steps 9 to 14). A vector is begun before the one ahead of it is ended.
//   2. Results that lie on whole lines apart from x, more than the caches hold, are streamed past them; nothing else
//      about them differs.
//   3. A vector that is left open is done by the kernel itself, whose certificate has both ends of the bound (steps 1
//      and 2) and which leaves pairs to settle.hpp; the quick tier goes on behind it.
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

/// The quick tier of a kernel, if there is one, and what is worth a try before the kernel itself where that has left a
/// vector open, or void.
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
// by the quick tier and its second try, and returns its place, or that of the head after the last. There are no calls
// in this function, so that constants stay in registers. A vector is begun before the one ahead of it is ended: the
// processor looks only so far ahead in the code, and so finds work there that does not wait for this vector's results.
template <class Tier, Rounding rounding, Pairing in, Pairing out, Caching caching, class Row>
HWY_NOINLINE Place TurnQuickly(const Row& row, std::size_t whole,
                               const HeadsOfToken<typename Tier::First::Element>& work, Place from) {
  using First = typename Tier::First;
  using Second = typename Tier::Second;
  const std::size_t lanes = hn::Lanes(typename First::DE());
  auto pointers = PointersAt<in, out>(work, {from.head, 0});
  const std::int64_t x_stride = work.x_stride;
  const std::int64_t y_stride = work.y_stride;
  const std::int64_t heads = work.heads;
  const First quick(row);
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
    if (HWY_UNLIKELY((!quick.template End<rounding, in, out, caching>(ending, first_out, second_out)))) {
      if constexpr (std::is_void_v<Second>) {
        return at;
      } else {
        const Second again(row);
        const auto x = PointersAt<in, out>(work, at);
        const auto* const second = in == Pairing::half ? x.x1 : x.x0 + lanes;
        const auto begun_again = again.template Begin<rounding, in, out>(row, at.pair, x.x0, second);
        if (!again.template End<rounding, in, out, caching>(begun_again, x.y0, x.y1)) return at;
      }
    }
    if (head == heads) return {heads, 0};
  }
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
    const std::size_t lanes = hn::Lanes(typename Tier::First::DE());
    whole = row.quick ? count / lanes * lanes : 0;
    for (Place from{whole > 0 ? 0 : work.heads, 0}; from.head < work.heads;) {
      // Where channels change places, lines would have to be put together first: those are kept.
      constexpr Caching past = in == out ? Caching::streamed : Caching::kept;
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
