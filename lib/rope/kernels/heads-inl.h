// Turns the heads of one token by its row, for one Highway target. Included inside HWY_NAMESPACE by a file that is
// compiled once per target.
//
//   1. The quick tier turns vector after vector of whole pairs, head after head, and keeps what its certificate passes
//      (docs/proofs/rope.md, steps 9 to 14). A vector is begun before the one ahead of it is ended.
//   2. Results that lie on whole lines apart from x, more than the caches hold, are streamed past them; nothing else
//      about them differs.
//   3. Rounding::fast leaves nothing open, and takes the same pairs of many heads one after the other, whose entries
//      stay in registers.
//   4. A vector that is left open is done by the kernel itself, whose certificate has both ends of the bound (steps 1
//      and 2) and which leaves pairs to settle.hpp; the quick tier goes on behind it. Where many vectors are, they are
//      remembered and done together (deferred-inl.h).

#if defined(SEXTANT_LIB_ROPE_KERNELS_HEADS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_LIB_ROPE_KERNELS_HEADS_INL_H_
#undef SEXTANT_LIB_ROPE_KERNELS_HEADS_INL_H_
#else
#define SEXTANT_LIB_ROPE_KERNELS_HEADS_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "lib/rope/kernels/deferred-inl.h"
#include "lib/rope/kernels/run-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

// Turns the first `whole` pairs, whole vectors, of the heads from a place within them on, until one vector is left open
// by the quick tier, and returns its place, or that of the head after the last. There are no calls in this function, so
// that constants stay in registers. A vector is begun before the one ahead of it is ended: the processor looks only so
// far ahead in the code, and so finds work there that does not wait for this vector's results.
template <class Tier, Rounding rounding, Pairing in, Pairing out, Caching caching, class Row>
HWY_NOINLINE Place TurnQuickly(const Row& row, std::size_t whole,
                               const HeadsOfToken<typename Tier::Quick::From, typename Tier::Quick::Element>& work,
                               Place from) {
  using Quick = typename Tier::Quick;
  const std::size_t lanes = hn::Lanes(typename Quick::DE());
  constexpr std::size_t most_lanes = hn::MaxLanes(typename Quick::DE());
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
    PrefetchLinesAhead<most_lanes>(first);
    PrefetchLinesAhead<most_lanes>(second);
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

/// Whether a tier turns by entries in registers.
template <class Quick>
concept ByEntries = requires {
  typename Quick::Entries;
};

// Turns the first `whole` pairs, whole vectors, of all heads: the same pairs of as many heads as the first-level cache
// has room for, since to load entries again for each head would take as many loads as the elements do. Results that are
// streamed go head by head, so that lines are whole soon.
template <class Quick, Pairing in, Pairing out, Caching caching, class Row>
HWY_NOINLINE void TurnByEntries(const Row& row, std::size_t whole,
                                const HeadsOfToken<typename Quick::From, typename Quick::Element>& work) {
  const std::size_t pairs = Quick::template PairsATime<in, out>();
  constexpr std::size_t bytes_together = 16384;
  const auto fitting = static_cast<std::int64_t>(bytes_together / (2 * whole * sizeof(typename Quick::Element)));
  const std::int64_t together = caching == Caching::streamed ? 1 : std::max<std::int64_t>(1, fitting);
  const std::int64_t x_stride = work.x_stride;
  const std::int64_t y_stride = work.y_stride;
  for (std::int64_t first = 0; first < work.heads; first += together) {
    const std::int64_t heads = std::min(together, work.heads - first);
    for (std::size_t i = 0; i < whole; i += pairs) {
      const auto entries = Quick::template EntriesAt<in, out>(row, i);
      auto [x0, x1, y0, y1] = PointersAt<in, out>(work, {first, i});
      for (std::int64_t head = 0; head < heads; ++head) {
        Quick::template Turn<in, out, caching>(entries, x0, x1, y0, y1);
        x0 += x_stride;
        x1 += x_stride;
        y0 += y_stride;
        y1 += y_stride;
      }
    }
  }
}

template <class Kernel, Rounding rounding, Pairing in, Pairing out>
void TurnHeads(const RowFor<Kernel>& row, std::size_t count,
               const HeadsOfToken<FromOf<Kernel>, ElementOf<Kernel>>& work) {
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
    const bool any = whole > 0 && work.heads > 0;
    if constexpr (rounding == Rounding::fast && ByEntries<typename Tier::Quick>) {
      if (any)
        work.caching == past ? TurnByEntries<typename Tier::Quick, in, out, past>(row, whole, work)
                             : TurnByEntries<typename Tier::Quick, in, out, Caching::kept>(row, whole, work);
    } else if constexpr (rounding == Rounding::certified && Tier::Quick::defers) {
      if (any)
        work.caching == past ? TurnDeferring<Kernel, in, out, past>(row, whole, work)
                             : TurnDeferring<Kernel, in, out, Caching::kept>(row, whole, work);
    } else {
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
  }
  if (whole == count) return;
  for (std::int64_t head = 0; head < work.heads; ++head) turn({head, whole}, count);
}

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
