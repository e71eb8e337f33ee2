#include "lib/rope/kernels.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/rope/kernels.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "lib/rope/fill_row-inl.h"
#include "lib/rope/quick_pairs-inl.h"
#include "lib/rope/turn_pairs-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

template <class Kernel>
using ElementOf = typename Kernel::Element;

template <class Kernel, Pairing in, Pairing out>
constexpr PairOrder pair_order_of() {
  if (!QuickTier<Kernel>::exists) return PairOrder::natural;
  constexpr bool together = in == Pairing::interleaved && out == Pairing::interleaved;
  if (Kernel::dtype == Dtype::bfloat16) return together ? PairOrder::natural : PairOrder::even_then_odd;
  return Kernel::dtype == Dtype::float32 && together ? PairOrder::twice : PairOrder::natural;
}
template <class Kernel, Pairing in, Pairing out>
constexpr PairOrder pair_order = pair_order_of<Kernel, in, out>();

// Elements from one pair's first channel to the next one's.
template <Pairing pairing>
constexpr std::size_t channel_step = pairing == Pairing::half ? 1 : 2;

// Callers' elements are floats, say, that we read as bits.
template <class Element>
HWY_INLINE void CopyElement(const Element* from, Element* to) {
  std::memcpy(to, from, sizeof(Element));
}

// Zeros, which pad sequences and which no certificate holds for, become zeros, unless powers of pairs ask for their
// signs.
template <class Kernel, Rounding rounding>
HWY_INLINE auto TurnVector(const Row& row, std::size_t i, const PairOf<hn::Vec<typename Kernel::DE>>& x) {
  const typename Kernel::DE de;
  const auto magnitude = hn::ShiftLeft<1>(hn::Or(x.first, x.second));
  if (row.job->powers == nullptr && HWY_UNLIKELY(hn::AllTrue(de, hn::Eq(magnitude, hn::Zero(de)))))
    return PairOf<hn::Vec<typename Kernel::DE>>{magnitude, magnitude};
  return Kernel::template Turn<rounding>(row, i, x);
}

// Pairs [first, last) of a row: under Pairing::half their first and second channels at the two pointers, else all of
// them at the first. y may be x.
template <class Kernel, Rounding rounding, Pairing in, Pairing out>
HWY_NOINLINE void TurnPairs(const Row& row, std::size_t first, std::size_t last, const ElementOf<Kernel>* x0,
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
// processor looks only so far ahead in the code, and finds more there that waits for nothing.
template <class Tier, Rounding rounding, Pairing in, Pairing out>
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
    if (HWY_UNLIKELY((!quick.template End<rounding, in, out>(ending, first_out, second_out)))) {
      if constexpr (std::is_void_v<Second>) {
        return at;
      } else {
        const Second again(row);
        const auto x = PointersAt<in, out>(work, at);
        const auto* const second = in == Pairing::half ? x.x1 : x.x0 + lanes;
        if (!again.template End<rounding, in, out>(again.template Begin<rounding, in, out>(row, at.pair, x.x0, second),
                                                   x.y0, x.y1))
          return at;
      }
    }
    if (head == heads) return {heads, 0};
  }
}

template <class Kernel, Rounding rounding, Pairing in, Pairing out>
void TurnHeads(const Row& row, std::size_t count, const HeadsOfToken<ElementOf<Kernel>>& work) {
  const auto turn = [&](Place from, std::size_t last) {
    const auto [x0, x1, y0, y1] = PointersAt<in, out>(work, from);
    TurnPairs<Kernel, rounding, in, out>(row, from.pair, last, x0, x1, y0, y1);
  };
  std::size_t whole = 0;
  if constexpr (QuickTier<Kernel>::exists) {
    using Tier = QuickTier<Kernel>;
    const std::size_t lanes = hn::Lanes(typename Tier::First::DE());
    whole = row.quick ? count / lanes * lanes : 0;
    for (Place from{whole > 0 ? 0 : work.heads, 0}; from.head < work.heads;) {
      const Place open = TurnQuickly<Tier, rounding, in, out>(row, whole, work, from);
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

template <class Element>
void MoveChannels(const Move& move, const Element* x, Element* y) {
  if (move.to_step == 1 && move.from_step == 1) {
    if (move.count > 0) std::memcpy(y + move.to, x + move.from, static_cast<std::size_t>(move.count) * sizeof(Element));
    return;
  }
  for (std::int64_t k = 0; k < move.count; ++k)
    CopyElement(x + move.from + k * move.from_step, y + move.to + k * move.to_step);
}

template <class Kernel, Rounding rounding, Pairing in, Pairing out>
void RotateUnits(const RopeJob& job, std::int64_t first, std::int64_t last) {
  using Element = ElementOf<Kernel>;
  constexpr std::size_t on_stack = 8192 / sizeof(Element);
  Element small[on_stack];
  std::vector<Element> large;
  Element* aside = small;
  const auto set_aside = static_cast<std::size_t>(job.set_aside);
  if (set_aside > on_stack) {
    large.resize(set_aside);
    aside = large.data();
  }
  const std::int64_t units_per_token = (job.heads + job.heads_per_unit - 1) / job.heads_per_unit;
  const auto* const x = reinterpret_cast<const Element*>(job.x);
  auto* const y = reinterpret_cast<Element*>(job.y);
  const std::size_t pairs = job.frequencies->pairs();
  const auto turn_tile = [&](std::int64_t unit, std::size_t tile, const Row& row) {
    const std::int64_t token = unit / units_per_token;
    const std::int64_t head_begin = unit % units_per_token * job.heads_per_unit;
    const std::int64_t head_end = std::min(head_begin + job.heads_per_unit, job.heads);
    const std::int64_t batch = token / job.tokens;
    const std::int64_t in_batch = token % job.tokens;
    const Element* const x_token = x + batch * job.x_strides[0] + in_batch * job.x_strides[1];
    Element* const y_token = y + batch * job.y_strides[0] + in_batch * job.y_strides[1];
    const auto turn_heads = [&](const Element* from, Element* to, std::int64_t heads) {
      from += channel_step<in> * tile;
      to += channel_step<out> * tile;
      TurnHeads<Kernel, rounding, in, out>(row, std::min(rope_tile_pairs, pairs - tile),
                                           {from, from + (in == Pairing::half ? job.half : 0), job.x_strides[2], to,
                                            to + (out == Pairing::half ? job.half : 0), job.y_strides[2], heads});
    };
    if (set_aside == 0)
      turn_heads(x_token + head_begin * job.x_strides[2], y_token + head_begin * job.y_strides[2],
                 head_end - head_begin);
    const bool moves = tile == 0 && (job.moves[0].count > 0 || job.moves[1].count > 0);
    if (set_aside == 0 && !moves) return;
    for (std::int64_t head = head_begin; head < head_end; ++head) {
      const Element* from = x_token + head * job.x_strides[2];
      Element* const to = y_token + head * job.y_strides[2];
      if (set_aside > 0) {
        if (tile == 0) std::memcpy(aside, from, set_aside * sizeof(Element));
        from = aside;
        turn_heads(from, to, 1);
      }
      if (!moves) continue;
      for (const Move& move : job.moves) MoveChannels(move, from, to);
    }
  };
  Row row;
  std::int64_t token_of_row = -1;
  for (std::int64_t unit = first; unit < last; ++unit) {
    const std::int64_t token = unit / units_per_token;
    for (std::size_t tile = 0; tile < pairs; tile += rope_tile_pairs) {
      if (token != token_of_row || pairs > rope_tile_pairs) {
        FillRow(job, token, tile, std::min(rope_tile_pairs, pairs - tile), pair_order<Kernel, in, out>, row);
        token_of_row = token;
      }
      turn_tile(unit, tile, row);
    }
  }
}

template <class Kernel, Rounding rounding>
void RotateUnitsOf(const RopeJob& job, std::int64_t first, std::int64_t last) {
  constexpr Pairing half = Pairing::half;
  constexpr Pairing interleaved = Pairing::interleaved;
  if (job.pairing == half) {
    job.output_pairing == half ? RotateUnits<Kernel, rounding, half, half>(job, first, last)
                               : RotateUnits<Kernel, rounding, half, interleaved>(job, first, last);
  } else {
    job.output_pairing == half ? RotateUnits<Kernel, rounding, interleaved, half>(job, first, last)
                               : RotateUnits<Kernel, rounding, interleaved, interleaved>(job, first, last);
  }
}

template <class Kernel>
void RotateUnitsOf(const RopeJob& job, std::int64_t first, std::int64_t last) {
  job.rounding == Rounding::certified ? RotateUnitsOf<Kernel, Rounding::certified>(job, first, last)
                                      : RotateUnitsOf<Kernel, Rounding::fast>(job, first, last);
}

void Rotate(const RopeJob& job, std::int64_t first, std::int64_t last) {
  constexpr Rounding certified = Rounding::certified;
  const bool powers = job.powers != nullptr;
  switch (job.dtype) {
    case Dtype::float64:
      return powers ? RotateUnitsOf<TurnFloat64<PairBounds>, certified>(job, first, last)
                    : RotateUnitsOf<TurnFloat64<SharedBounds>, certified>(job, first, last);
    case Dtype::float32:
      return powers ? RotateUnitsOf<TurnFloat32<PairBounds>, certified>(job, first, last)
                    : RotateUnitsOf<TurnFloat32<SharedBounds>>(job, first, last);
    case Dtype::float16:
      return powers ? RotateUnitsOf<TurnNarrow<Float16, PairBounds>, certified>(job, first, last)
                    : RotateUnitsOf<TurnNarrow<Float16, SharedBounds>>(job, first, last);
    case Dtype::bfloat16:
      return powers ? RotateUnitsOf<TurnNarrow<BFloat16, PairBounds>, certified>(job, first, last)
                    : RotateUnitsOf<TurnNarrow<BFloat16, SharedBounds>>(job, first, last);
    case Dtype::int64: return;  // refused before
  }
}

// Rotates the pair (1, 0), whose image is (a cos, a sin).
template <class Kernel>
void WriteRows(const RopeJob& job, std::byte* sin, std::int64_t sin_stride, std::int64_t first, std::int64_t last) {
  using Element = ElementOf<Kernel>;
  Element ones[rope_tile_pairs];
  Element zeros[rope_tile_pairs] = {};
  for (Element& one : ones) store(job.dtype, 1, reinterpret_cast<std::byte*>(&one));
  const std::size_t pairs = job.frequencies->pairs();
  Row row;
  for (std::int64_t token = first; token < last; ++token) {
    Element* const cos_row = reinterpret_cast<Element*>(job.y) + token * job.y_strides[1];
    Element* const sin_row = reinterpret_cast<Element*>(sin) + token * sin_stride;
    for (std::size_t tile = 0; tile < pairs; tile += rope_tile_pairs) {
      const std::size_t count = std::min(rope_tile_pairs, pairs - tile);
      FillRow(job, token, tile, count, pair_order<Kernel, Pairing::half, Pairing::half>, row);
      TurnHeads<Kernel, Rounding::certified, Pairing::half, Pairing::half>(
          row, count, {ones, zeros, 0, cos_row + tile, sin_row + tile, 0, 1});
    }
  }
}

void Tabulate(const RopeJob& job, std::byte* sin, std::int64_t sin_stride, std::int64_t first, std::int64_t last) {
  switch (job.dtype) {
    case Dtype::float64: return WriteRows<TurnFloat64<SharedBounds>>(job, sin, sin_stride, first, last);
    case Dtype::float32: return WriteRows<TurnFloat32<SharedBounds>>(job, sin, sin_stride, first, last);
    case Dtype::float16: return WriteRows<TurnNarrow<Float16, SharedBounds>>(job, sin, sin_stride, first, last);
    case Dtype::bfloat16: return WriteRows<TurnNarrow<BFloat16, SharedBounds>>(job, sin, sin_stride, first, last);
    case Dtype::int64: return;  // refused before
  }
}

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant {
namespace {

HWY_EXPORT(Rotate);
HWY_EXPORT(Tabulate);

}  // namespace

void rotate_units(const RopeJob& job, std::int64_t first, std::int64_t last) {
  HWY_DYNAMIC_DISPATCH(Rotate)(job, first, last);
}

void write_rotation_rows(const RopeJob& job, std::byte* sin, std::int64_t sin_stride, std::int64_t first,
                         std::int64_t last) {
  HWY_DYNAMIC_DISPATCH(Tabulate)(job, sin, sin_stride, first, last);
}

}  // namespace sextant
#endif
