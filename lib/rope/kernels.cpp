#include "lib/rope/kernels.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/rope/kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "lib/rope/quick_pairs-inl.h"
#include "lib/rope/turn_pairs-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

// Of bfloat16 pairs in a vector of 32 bits each, the even and odd ones of twice as many lanes are held apart where memory does not hold whole pairs
// (quick_pairs-inl.h).
enum class PairOrder { natural, even_then_odd };

// The entries of a row that kernels of 16-bit elements use in float.
void FillNarrow(const RopeJob& job, PairOrder order, std::size_t count, Row& row) {
  const Doubles d;
  const hn::Rebind<float, Doubles> df;
  const hn::Rebind<std::uint32_t, Doubles> du;
  // 13 of a float's 24 bits, and 16 of them.
  const std::uint32_t dropped = job.dtype == Dtype::float16 ? 11 : 8;
  const auto half_place = hn::Set(du, std::uint32_t{1} << (dropped - 1));
  const auto first_places = hn::Set(du, ~((std::uint32_t{1} << dropped) - 1));
  const auto split = [&](const double* from, float* rounded, float* head, float* tail) HWY_ATTR {
    for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
      const DoubleVector value = hn::Load(d, from + i);
      const auto narrow = hn::DemoteTo(df, value);
      hn::Store(narrow, df, rounded + i);
      const auto first_bits = hn::BitCast(df, hn::And(hn::Add(hn::BitCast(du, narrow), half_place), first_places));
      hn::Store(first_bits, df, head + i);
      hn::Store(hn::DemoteTo(df, hn::Sub(value, hn::PromoteTo(d, first_bits))), df, tail + i);
    }
  };
  split(row.cos, row.cos_float, row.cos_head, row.cos_tail);
  split(row.sin, row.sin_float, row.sin_head, row.sin_tail);
#if HWY_TARGET != HWY_SCALAR
  if (order == PairOrder::natural) return;
  const hn::CappedTag<float, 16> narrow;
  const std::size_t lanes = hn::Lanes(narrow);
  for (float* const values : {row.cos_float, row.sin_float, row.cos_head, row.sin_head, row.cos_tail, row.sin_tail}) {
    for (std::size_t i = 0; i + 2 * lanes <= count; i += 2 * lanes) {
      auto even = hn::Zero(narrow);
      auto odd = even;
      hn::LoadInterleaved2(narrow, values + i, even, odd);
      hn::Store(even, narrow, values + i);
      hn::Store(odd, narrow, values + i + lanes);
    }
  }
#else
  (void)order;
#endif
}

// The row of a tile at one position. Bounds as turn_pairs-inl.h derives them; an attention factor outside the range of that derivation makes
// them infinite, so that nothing is certified and every pair goes to settle.
void FillRow(const RopeJob& job, std::int64_t position, std::size_t first_pair, std::size_t count, PairOrder order, Anchor& anchor, Row& row) {
  const Doubles d;
  row.job = &job;
  row.first_pair = first_pair;
  row.position = job.direction == Direction::clockwise ? -position : position;
  const double a = job.factor->high;
  const bool ordinary = a >= 0x1p-20 && a <= 0x1p20;
  const double factor = ordinary ? a : HUGE_VAL;
  const UnitCircle& circle = unit_circle();
  if (job.dtype == Dtype::float64) {
    row.bound = 0x1p-98 * factor;
    const DoubleDouble<DoubleVector> scale{hn::Set(d, a), hn::Set(d, job.factor->low)};
    for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
      const PreciseRotation turn = PreciseRotationAt(*job.frequencies, first_pair + i, split_position(row.position), circle);
      const auto c = Multiply(turn.cos, scale);
      const auto s = Multiply(turn.sin, scale);
      hn::Store(c.high, d, row.cos + i);
      hn::Store(c.low, d, row.cos_low + i);
      hn::Store(s.high, d, row.sin + i);
      hn::Store(s.low, d, row.sin_low + i);
    }
    return;
  }
  row.bound = 11 * 0x1p-53 * factor;
  row.ordinary = ordinary;
  row.float_bound = static_cast<float>(4.25 * 0x1p-24 * factor);
  row.tail_bound = static_cast<float>(0x1p-35 * factor);
  row.largest = ordinary ? std::numeric_limits<float>::max() : -1.0F;
  const std::int64_t step = row.position & (StepRotations::count - 1);
  if (row.position - step != anchor.position) {
    const DoubleVector scale = hn::Set(d, a);
    const SplitPosition position_of_anchor = split_position(row.position - step);
    for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
      const Rotation z = RotationAt(*job.frequencies, first_pair + i, position_of_anchor, circle);
      hn::Store(hn::Mul(z.cos, scale), d, anchor.cos + i);
      hn::Store(hn::Mul(z.sin, scale), d, anchor.sin + i);
    }
    anchor.position = job.frequencies->pairs() > rope_tile_pairs ? Anchor::none : row.position - step;
  }
  const StepGroup* const groups = job.steps->at(step) + first_pair / FrequencyPieces::lanes;
  for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
    const StepGroup& group = groups[i / FrequencyPieces::lanes];
    const DoubleVector c = hn::Load(d, group.cos.data() + i % FrequencyPieces::lanes);
    const DoubleVector s = hn::Load(d, group.sin.data() + i % FrequencyPieces::lanes);
    const DoubleVector z_cos = hn::Load(d, anchor.cos + i);
    const DoubleVector z_sin = hn::Load(d, anchor.sin + i);
    hn::Store(hn::NegMulAdd(z_sin, s, hn::Mul(z_cos, c)), d, row.cos + i);
    hn::Store(hn::MulAdd(z_sin, c, hn::Mul(z_cos, s)), d, row.sin + i);
  }
  if (job.dtype == Dtype::float32) return;
  // A vector of 16-bit elements may read more of a row than vectors of doubles have written: more copies of the last entry.
  const std::size_t full = (count + hn::Lanes(d) - 1) / hn::Lanes(d) * hn::Lanes(d);
  std::fill_n(row.cos + full, 16, row.cos[full - 1]);
  std::fill_n(row.sin + full, 16, row.sin[full - 1]);
  FillNarrow(job, order, count, row);
}

template <class Kernel>
using ElementOf = typename Kernel::Element;

template <class Kernel, Pairing in, Pairing out>
constexpr PairOrder pair_order = std::is_same_v<Kernel, TurnNarrow<BFloat16>> && (in == Pairing::half || out == Pairing::half) ? PairOrder::even_then_odd
                                                                                                                          : PairOrder::natural;

// Callers' elements are floats, say, that we read as bits.
template <class Element>
HWY_INLINE void CopyElement(const Element* from, Element* to) {
  std::memcpy(to, from, sizeof(Element));
}

// Pairs [first, last) of a row: under Pairing::half their first and second channels at the two pointers, else all of them at the first. y may be x.
template <class Kernel, Rounding rounding, Pairing in, Pairing out>
HWY_NOINLINE void TurnPairs(const Row& row, std::size_t first, std::size_t last, const ElementOf<Kernel>* x0, const ElementOf<Kernel>* x1,
                            ElementOf<Kernel>* y0, ElementOf<Kernel>* y1) {
  using Element = ElementOf<Kernel>;
  constexpr std::size_t in_step = in == Pairing::half ? 1 : 2;
  constexpr std::size_t out_step = out == Pairing::half ? 1 : 2;
  const typename Kernel::DE de;
  const std::size_t lanes = hn::Lanes(de);
  const std::size_t count = last - first;
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto x = LoadPairs<in>(de, x0 + in_step * i, x1 + i);
    StorePairs<out>(de, Kernel::template Turn<rounding>(row, first + i, x), y0 + out_step * i, y1 + i);
  }
  if (i == count) return;
  // The rest goes through memory of our own, filled up with copies of its last pair, which is what the row is filled up with.
  const std::size_t rest = count - i;
  constexpr std::size_t most = 16;
  Element firsts[most] = {};
  Element seconds[most] = {};
  for (std::size_t k = 0; k < lanes; ++k) {
    const std::size_t from = i + std::min(k, rest - 1);
    CopyElement(x0 + in_step * from, firsts + k);
    CopyElement(in == Pairing::half ? x1 + from : x0 + 2 * from + 1, seconds + k);
  }
  const auto y = Kernel::template Turn<rounding>(row, first + i, LoadPairs<Pairing::half>(de, firsts, seconds));
  StorePairs<Pairing::half>(de, y, firsts, seconds);
  for (std::size_t k = 0; k < rest; ++k) {
    CopyElement(firsts + k, y0 + out_step * (i + k));
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

// Vectors of pairs that the quick tier has left open, with what was in memory before: x may be y by now.
template <class Element>
struct OpenVectors {
  static constexpr std::size_t capacity = 32;
  struct Entry {
    alignas(64) Element x[2 * 64 / sizeof(Element)];
    std::int64_t head;
    std::size_t pair;
  };
  std::size_t count = 0;
  Entry entries[capacity + 1];
};

template <class Quick, Pairing in>
HWY_INLINE void Keep(const ElementOf<Quick>* x0, const ElementOf<Quick>* x1, std::int64_t head, std::size_t pair, typename OpenVectors<ElementOf<Quick>>::Entry& entry) {
  const typename Quick::DE de;
  const std::size_t lanes = hn::Lanes(de);
  hn::Store(hn::LoadU(de, x0), de, entry.x);
  hn::Store(hn::LoadU(de, in == Pairing::half ? x1 : x0 + lanes), de, entry.x + lanes);
  entry.head = head;
  entry.pair = pair;
}

// Turns the first `whole` pairs, whole vectors, of as many heads from `head` on as `open` certainly has place for, but of one at least, and returns the next
// head. A vector is added to `open` by counting it or not, since a branch that goes the other way now and then would cost more than all the rest. There are no
// calls in this function: constants stay in registers.
template <class Quick, Rounding rounding, Pairing in, Pairing out>
HWY_NOINLINE std::int64_t TurnQuickly(const Row& row, std::size_t whole, const HeadsOfToken<ElementOf<Quick>>& work, std::int64_t head, OpenVectors<ElementOf<Quick>>& open) {
  using Element = ElementOf<Quick>;
  constexpr std::size_t in_step = in == Pairing::half ? 1 : 2;
  constexpr std::size_t out_step = out == Pairing::half ? 1 : 2;
  const std::size_t lanes = hn::Lanes(typename Quick::DE());
  const Element* x0 = work.x0 + head * work.x_stride;
  const Element* x1 = work.x1 + head * work.x_stride;
  Element* y0 = work.y0 + head * work.y_stride;
  Element* y1 = work.y1 + head * work.y_stride;
  const std::int64_t x_stride = work.x_stride;
  const std::int64_t y_stride = work.y_stride;
  const std::int64_t heads = work.heads;
  std::size_t count = 0;
  do {
    for (std::size_t i = 0; i < whole; i += lanes) {
      if constexpr (rounding == Rounding::certified) Keep<Quick, in>(x0 + in_step * i, x1 + i, head, i, open.entries[count]);
      const bool certain = Quick::template Turn<rounding, in, out>(row, i, x0 + in_step * i, x1 + i, y0 + out_step * i, y1 + i);
      count += certain ? 0 : 1;
    }
    x0 += x_stride;
    x1 += x_stride;
    y0 += y_stride;
    y1 += y_stride;
    ++head;
  } while (head < heads && count + whole / lanes <= OpenVectors<Element>::capacity);
  open.count = count;
  return head;
}

template <class Kernel, Rounding rounding, Pairing in, Pairing out>
void TurnHeads(const Row& row, std::size_t count, const HeadsOfToken<ElementOf<Kernel>>& work) {
  using Element = ElementOf<Kernel>;
  constexpr std::size_t in_step = in == Pairing::half ? 1 : 2;
  constexpr std::size_t out_step = out == Pairing::half ? 1 : 2;
  std::size_t whole = 0;
  if constexpr (QuickTier<Kernel>::exists) {
    using Quick = QuickTier<Kernel>;
    const std::size_t lanes = hn::Lanes(typename Quick::DE());
    static_assert(rope_tile_pairs / 2 <= OpenVectors<Element>::capacity * 4);
    whole = row.ordinary ? count / lanes * lanes : 0;
    OpenVectors<Element> open;
    for (std::int64_t head = 0; whole > 0 && head < work.heads;) {
      head = TurnQuickly<Quick, rounding, in, out>(row, whole, work, head, open);
      for (std::size_t k = 0; k < open.count; ++k) {
        const auto& entry = open.entries[k];
        const std::size_t i = entry.pair;
        const std::int64_t y = entry.head * work.y_stride;
        TurnPairs<Kernel, rounding, in, out>(row, i, i + lanes, entry.x, entry.x + lanes, work.y0 + y + out_step * i, work.y1 + y + i);
      }
    }
  }
  if (whole == count) return;
  for (std::int64_t head = 0; head < work.heads; ++head) {
    const std::int64_t x = head * work.x_stride;
    const std::int64_t y = head * work.y_stride;
    TurnPairs<Kernel, rounding, in, out>(row, whole, count, work.x0 + x + in_step * whole, work.x1 + x + whole, work.y0 + y + out_step * whole,
                                         work.y1 + y + whole);
  }
}

template <class Element>
void MoveChannels(const Move& move, const Element* x, Element* y) {
  if (move.to_step == 1 && move.from_step == 1) {
    if (move.count > 0) std::memcpy(y + move.to, x + move.from, static_cast<std::size_t>(move.count) * sizeof(Element));
    return;
  }
  for (std::int64_t k = 0; k < move.count; ++k) CopyElement(x + move.from + k * move.from_step, y + move.to + k * move.to_step);
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
    const auto offset = static_cast<std::int64_t>(tile);
    const std::int64_t x_offset = in == Pairing::half ? offset : 2 * offset;
    const std::int64_t y_offset = out == Pairing::half ? offset : 2 * offset;
    const auto turn_heads = [&](const Element* from, Element* to, std::int64_t heads) {
      from += x_offset;
      to += y_offset;
      TurnHeads<Kernel, rounding, in, out>(row, std::min(rope_tile_pairs, pairs - tile),
                                           {from, from + (in == Pairing::half ? job.half : 0), job.x_strides[2], to,
                                            to + (out == Pairing::half ? job.half : 0), job.y_strides[2], heads});
    };
    if (set_aside == 0) turn_heads(x_token + head_begin * job.x_strides[2], y_token + head_begin * job.y_strides[2], head_end - head_begin);
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
  // Memory rests while a row is filled. Filling some at a time halves that, since the first lines after it are waited for but once.
  constexpr std::int64_t rows_at_once = 1;
  constexpr PairOrder order = pair_order<Kernel, in, out>;
  Row rows[rows_at_once];
  Anchor anchor;
  if (pairs > rope_tile_pairs) {
    for (std::int64_t unit = first; unit < last; ++unit) {
      for (std::size_t tile = 0; tile < pairs; tile += rope_tile_pairs) {
        FillRow(job, job.positions[unit / units_per_token], tile, std::min(rope_tile_pairs, pairs - tile), order, anchor, rows[0]);
        turn_tile(unit, tile, rows[0]);
      }
    }
    return;
  }
  for (std::int64_t unit = first; unit < last;) {
    const std::int64_t first_token = unit / units_per_token;
    const std::int64_t end = std::min(last, (first_token + rows_at_once) * units_per_token);
    for (std::int64_t token = first_token; token * units_per_token < end; ++token) {
      FillRow(job, job.positions[token], 0, pairs, order, anchor, rows[token - first_token]);
    }
    for (; unit < end; ++unit) turn_tile(unit, 0, rows[unit / units_per_token - first_token]);
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
  switch (job.dtype) {
    case Dtype::float64: return RotateUnitsOf<TurnFloat64, Rounding::certified>(job, first, last);
    case Dtype::float32: return RotateUnitsOf<TurnFloat32>(job, first, last);
    case Dtype::float16: return RotateUnitsOf<TurnNarrow<Float16>>(job, first, last);
    case Dtype::bfloat16: return RotateUnitsOf<TurnNarrow<BFloat16>>(job, first, last);
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
  Anchor anchor;
  for (std::int64_t token = first; token < last; ++token) {
    Element* const cos_row = reinterpret_cast<Element*>(job.y) + token * job.y_strides[1];
    Element* const sin_row = reinterpret_cast<Element*>(sin) + token * sin_stride;
    for (std::size_t tile = 0; tile < pairs; tile += rope_tile_pairs) {
      const std::size_t count = std::min(rope_tile_pairs, pairs - tile);
      FillRow(job, job.positions[token], tile, count, pair_order<Kernel, Pairing::half, Pairing::half>, anchor, row);
      TurnHeads<Kernel, Rounding::certified, Pairing::half, Pairing::half>(row, count, {ones, zeros, 0, cos_row + tile, sin_row + tile, 0, 1});
    }
  }
}

void Tabulate(const RopeJob& job, std::byte* sin, std::int64_t sin_stride, std::int64_t first, std::int64_t last) {
  switch (job.dtype) {
    case Dtype::float64: return WriteRows<TurnFloat64>(job, sin, sin_stride, first, last);
    case Dtype::float32: return WriteRows<TurnFloat32>(job, sin, sin_stride, first, last);
    case Dtype::float16: return WriteRows<TurnNarrow<Float16>>(job, sin, sin_stride, first, last);
    case Dtype::bfloat16: return WriteRows<TurnNarrow<BFloat16>>(job, sin, sin_stride, first, last);
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

void rotate_units(const RopeJob& job, std::int64_t first, std::int64_t last) { HWY_DYNAMIC_DISPATCH(Rotate)(job, first, last); }

void write_rotation_rows(const RopeJob& job, std::byte* sin, std::int64_t sin_stride, std::int64_t first, std::int64_t last) {
  HWY_DYNAMIC_DISPATCH(Tabulate)(job, sin, sin_stride, first, last);
}

}  // namespace sextant
#endif
