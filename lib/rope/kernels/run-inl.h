// Turns a run of pairs of one head by the kernel itself, for one Highway target. Included inside HWY_NAMESPACE by a
// file that is compiled once per target.
//
//   1. Whole vectors of pairs are loaded, turned whatever they hold, and stored.
//   2. Pairs beyond the last whole vector go through memory of our own, filled up with copies of the last.
//
// docs/proofs/rope.md, steps 1 and 2, has the certificate that each dtype's Turn applies.

#if defined(SEXTANT_LIB_ROPE_KERNELS_RUN_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_LIB_ROPE_KERNELS_RUN_INL_H_
#undef SEXTANT_LIB_ROPE_KERNELS_RUN_INL_H_
#else
#define SEXTANT_LIB_ROPE_KERNELS_RUN_INL_H_
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "lib/kernels/line_writer.hpp"
#include "lib/rope/kernels/pairs-inl.h"
#include "lib/rope/kernels/row-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

/// A kernel is one dtype's arithmetic: its Element, Row and dtype; From, what the elements of x are, where that is not
/// Element too; Fill, which makes the row of a token; Turn, which turns a vector of pairs whatever they are; and
/// QuickTier, if a quicker one is worth a try before.
template <class Kernel>
using ElementOf = typename Kernel::Element;
template <class Kernel>
using FromOf = typename Kernel::From;
template <class Kernel>
using RowFor = typename Kernel::Row;

/// The quick tier of a kernel, if there is one: Begin and End turn a vector of pairs, unless End refuses it. One that
/// defers has Put in place of End, and Mend for what Put leaves open (TurnDeferring).
template <class Kernel>
struct QuickTier {
  static constexpr bool exists = false;
};

/// What Rounding::fast is done by, where nothing is left open: as a QuickTier, or by Entries, which are those of so
/// many pairs in registers (EntriesAt), and Turn, which turns the pairs of one head by them.
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
HWY_INLINE auto TurnVector(const RowFor<Kernel>& row, std::size_t i, const PairOf<hn::Vec<typename Kernel::DX>>& x) {
  const typename Kernel::DX dx;
  const typename Kernel::DE de;
  const auto magnitude = hn::ShiftLeft<1>(hn::Or(x.first, x.second));
  if (!Kernel::Row::Bounds::of_pairs && HWY_UNLIKELY(hn::AllTrue(dx, hn::Eq(magnitude, hn::Zero(dx)))))
    return PairOf<hn::Vec<typename Kernel::DE>>{hn::Zero(de), hn::Zero(de)};
  return Kernel::template Turn<rounding>(row, i, x);
}

// Pairs [first, last) of a row: under Pairing::half their first and second channels at the two pointers, else all of
// them at the first. y may be x.
template <class Kernel, Rounding rounding, Pairing in, Pairing out>
HWY_NOINLINE void TurnPairs(const RowFor<Kernel>& row, std::size_t first, std::size_t last, const FromOf<Kernel>* x0,
                            const FromOf<Kernel>* x1, ElementOf<Kernel>* y0, ElementOf<Kernel>* y1) {
  using Element = ElementOf<Kernel>;
  const typename Kernel::DX dx;
  const typename Kernel::DE de;
  const std::size_t lanes = hn::Lanes(de);
  const std::size_t count = last - first;
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto x = LoadPairs<in>(dx, x0 + channel_step<in> * i, x1 + i);
    StorePairs<out>(de, TurnVector<Kernel, rounding>(row, first + i, x), y0 + channel_step<out> * i, y1 + i);
  }
  if (i == count) return;
  // The rest goes through memory of our own, filled up with copies of its last pair, which is what the row is filled up
  // with.
  const std::size_t rest = count - i;
  constexpr std::size_t most = 16;
  FromOf<Kernel> x_firsts[most] = {};
  FromOf<Kernel> x_seconds[most] = {};
  for (std::size_t k = 0; k < lanes; ++k) {
    const std::size_t from = i + std::min(k, rest - 1);
    CopyElement(x0 + channel_step<in> * from, x_firsts + k);
    CopyElement(in == Pairing::half ? x1 + from : x0 + 2 * from + 1, x_seconds + k);
  }
  const auto y = TurnVector<Kernel, rounding>(row, first + i, LoadPairs<Pairing::half>(dx, x_firsts, x_seconds));
  Element firsts[most] = {};
  Element seconds[most] = {};
  StorePairs<Pairing::half>(de, y, firsts, seconds);
  for (std::size_t k = 0; k < rest; ++k) {
    CopyElement(firsts + k, y0 + channel_step<out> * (i + k));
    CopyElement(seconds + k, out == Pairing::half ? y1 + i + k : y0 + 2 * (i + k) + 1);
  }
}

// Where the rotated channels of a token's heads lie.
template <class From, class Element = From>
struct HeadsOfToken {
  const From* x0;
  const From* x1;
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

template <class From, class Element>
struct Pointers {
  const From* x0;
  const From* x1;
  Element* y0;
  Element* y1;
};

template <Pairing in, Pairing out, class From, class Element>
HWY_INLINE Pointers<From, Element> PointersAt(const HeadsOfToken<From, Element>& work, Place at) {
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

/// The same for every line of so many elements.
template <std::size_t count, class From>
HWY_INLINE void PrefetchLinesAhead(const From* from) {
  for (std::size_t i = 0; i < count; i += 64 / sizeof(From)) PrefetchAhead(from + i);
}

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
