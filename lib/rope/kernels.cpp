#include "lib/rope/kernels.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/rope/kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "lib/rope/turn_pairs-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

// The row in float, and in two parts of it, for the types that are turned there.
void NarrowRow(const RopeJob& job, std::size_t count, Row& row) {
  const Doubles d;
  if (size_of(job.dtype) > 2) return;
  const hn::Rebind<float, Doubles> df;
  const hn::Rebind<std::uint32_t, Doubles> du;
  const auto split = [&](const double* from, float* rounded, float* head, float* tail) HWY_ATTR {
    for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
      const DoubleVector value = hn::Load(d, from + i);
      const auto narrow = hn::DemoteTo(df, value);
      hn::Store(narrow, df, rounded + i);
      if (job.dtype != Dtype::float16) continue;
      const auto first_bits = hn::BitCast(df, hn::And(hn::Add(hn::BitCast(du, narrow), hn::Set(du, 0x400)), hn::Set(du, ~0x7FFU)));
      hn::Store(first_bits, df, head + i);
      hn::Store(hn::DemoteTo(df, hn::Sub(value, hn::PromoteTo(d, first_bits))), df, tail + i);
    }
  };
  split(row.cos, row.cos_float, row.cos_head, row.cos_tail);
  split(row.sin, row.sin_float, row.sin_head, row.sin_tail);
}

// The row of a tile for one token. Bounds as turn_pairs-inl.h derives them; an attention factor outside the range of that derivation makes
// them infinite, so that nothing is certified and every pair goes to settle.
void FillRow(const RopeJob& job, std::int64_t token, std::size_t first_pair, std::size_t count, Row& row) {
  const Doubles d;
  row.job = &job;
  row.first_pair = first_pair;
  row.token = token;
  row.position = SignedPosition(job, job.positions[token]);
  const double a = job.factor->high;
  const bool ordinary = a >= 0x1p-20 && a <= 0x1p20;
  const double factor = ordinary ? a : HUGE_VAL;
  const UnitCircle& circle = unit_circle();
  if (job.dtype == Dtype::float64) {
    row.bound = 0x1p-98 * factor;
    if (job.axes != nullptr) return FillRotationsOfAxes(job, first_pair, count, row);
    DoubleDouble<DoubleVector> scale{hn::Set(d, a), hn::Set(d, job.factor->low)};
    for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
      const PreciseRotation turn = PreciseRotationAt(*job.frequencies, first_pair + i, split_position(row.position), circle);
      if (job.powers != nullptr) scale = PowerAt(*job.powers->rates, first_pair + i, hn::Set(d, static_cast<double>(row.position)), binary_powers());
      const auto c = Multiply(turn.cos, scale);
      const auto s = Multiply(turn.sin, scale);
      hn::Store(c.high, d, row.cos + i);
      hn::Store(c.low, d, row.cos_low + i);
      hn::Store(s.high, d, row.sin + i);
      hn::Store(s.low, d, row.sin_low + i);
    }
    if (job.powers != nullptr) FillPairBounds(job, count, row);
    return;
  }
  row.bound = 11 * 0x1p-53 * factor;
  row.float_bound = static_cast<float>(4.25 * 0x1p-24 * factor);
  row.tail_bound = static_cast<float>(0x1p-35 * factor);
  row.largest = ordinary ? std::numeric_limits<float>::max() : -1.0F;
  if (job.axes != nullptr) {
    FillRotationsOfAxes(job, first_pair, count, row);
    return NarrowRow(job, count, row);
  }
  const std::int64_t step = row.position & (StepRotations::count - 1);
  if (row.position - step != row.anchor_position) {
    DoubleVector scale = hn::Set(d, a);
    const SplitPosition anchor = split_position(row.position - step);
    for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
      const Rotation z = RotationAt(*job.frequencies, first_pair + i, anchor, circle);
      if (job.powers != nullptr) scale = PowerAt(*job.powers->rates, first_pair + i, hn::Set(d, anchor.nearest), binary_powers()).high;
      hn::Store(hn::Mul(z.cos, scale), d, row.anchor_cos + i);
      hn::Store(hn::Mul(z.sin, scale), d, row.anchor_sin + i);
    }
    row.anchor_position = job.frequencies->pairs() > rope_tile_pairs ? Row::no_anchor : row.position - step;
  }
  const StepGroup* const groups = job.steps->at(step) + first_pair / FrequencyPieces::lanes;
  for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
    const StepGroup& group = groups[i / FrequencyPieces::lanes];
    const DoubleVector c = hn::Load(d, group.cos.data() + i % FrequencyPieces::lanes);
    const DoubleVector s = hn::Load(d, group.sin.data() + i % FrequencyPieces::lanes);
    const DoubleVector z_cos = hn::Load(d, row.anchor_cos + i);
    const DoubleVector z_sin = hn::Load(d, row.anchor_sin + i);
    hn::Store(hn::NegMulAdd(z_sin, s, hn::Mul(z_cos, c)), d, row.cos + i);
    hn::Store(hn::MulAdd(z_sin, c, hn::Mul(z_cos, s)), d, row.sin + i);
  }
  if (job.powers != nullptr) FillPairBounds(job, count, row);
  NarrowRow(job, count, row);
}

template <class Kernel>
using ElementOf = typename Kernel::Element;

template <class Kernel, Pairing pairing>
HWY_INLINE typename Kernel::Pair LoadPairs(const ElementOf<Kernel>* first, const ElementOf<Kernel>* second) {
  const typename Kernel::DE de;
  if constexpr (pairing == Pairing::half) return {hn::LoadU(de, first), hn::LoadU(de, second)};
  typename Kernel::Pair x{hn::Zero(de), hn::Zero(de)};
  hn::LoadInterleaved2(de, first, x.first, x.second);
  return x;
}

template <class Kernel, Pairing pairing>
HWY_INLINE void StorePairsOf(const typename Kernel::Pair& y, ElementOf<Kernel>* first, ElementOf<Kernel>* second) {
  const typename Kernel::DE de;
  if constexpr (pairing == Pairing::half) {
    hn::StoreU(y.first, de, first);
    hn::StoreU(y.second, de, second);
  } else {
    hn::StoreInterleaved2(y.first, y.second, de, first);
  }
}

// Callers' elements are floats, say, that we read as bits.
template <class Element>
HWY_INLINE void CopyElement(const Element* from, Element* to) {
  std::memcpy(to, from, sizeof(Element));
}

// `count` pairs of a row: under Pairing::half their first and second channels at the two pointers, else all of them at the first. y may be x.
template <class Kernel, Rounding rounding, Pairing in, Pairing out>
HWY_INLINE void TurnPairs(const Row& row, std::size_t count, const ElementOf<Kernel>* x0, const ElementOf<Kernel>* x1, ElementOf<Kernel>* y0,
                          ElementOf<Kernel>* y1) {
  using Element = ElementOf<Kernel>;
  constexpr std::size_t in_step = in == Pairing::half ? 1 : 2;
  constexpr std::size_t out_step = out == Pairing::half ? 1 : 2;
  const std::size_t lanes = hn::Lanes(typename Kernel::DE());
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto x = LoadPairs<Kernel, in>(x0 + in_step * i, x1 + i);
    StorePairsOf<Kernel, out>(Kernel::template Turn<rounding>(row, i, x), y0 + out_step * i, y1 + i);
  }
  if (i == count) return;
  // The rest goes through memory of our own, filled up with copies of its last pair, which is what the row is filled up with.
  const std::size_t rest = count - i;
  constexpr std::size_t most = 16;
  Element first[most] = {};
  Element second[most] = {};
  for (std::size_t k = 0; k < lanes; ++k) {
    const std::size_t from = i + std::min(k, rest - 1);
    CopyElement(x0 + in_step * from, first + k);
    CopyElement(in == Pairing::half ? x1 + from : x0 + 2 * from + 1, second + k);
  }
  const auto y = Kernel::template Turn<rounding>(row, i, LoadPairs<Kernel, Pairing::half>(first, second));
  StorePairsOf<Kernel, Pairing::half>(y, first, second);
  for (std::size_t k = 0; k < rest; ++k) {
    CopyElement(first + k, y0 + out_step * (i + k));
    CopyElement(second + k, out == Pairing::half ? y1 + i + k : y0 + 2 * (i + k) + 1);
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

// A vector of 16-bit elements may read more of a row than vectors of doubles have written: more copies of the last entry.
void FillUp(const RopeJob& job, std::size_t count, Row& row) {
  if (size_of(job.dtype) > 2) return;
  const std::size_t full = (count + FrequencyPieces::lanes - 1) / FrequencyPieces::lanes * FrequencyPieces::lanes;
  const auto fill = [&](auto* values) { std::fill_n(values + full, 8, values[full - 1]); };
  fill(row.cos);
  fill(row.sin);
  fill(row.cos_float);
  fill(row.sin_float);
  if (job.powers != nullptr) {
    fill(row.bounds);
    fill(row.float_bounds);
    fill(row.tail_bounds);
    fill(row.largests);
    fill(row.float_largests);
  }
  if (job.dtype != Dtype::float16) return;
  fill(row.cos_head);
  fill(row.sin_head);
  fill(row.cos_tail);
  fill(row.sin_tail);
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
  Row row;
  std::int64_t token_of_row = -1;
  for (std::int64_t unit = first; unit < last; ++unit) {
    const std::int64_t token = unit / units_per_token;
    const std::int64_t head_begin = unit % units_per_token * job.heads_per_unit;
    const std::int64_t head_end = std::min(head_begin + job.heads_per_unit, job.heads);
    const std::int64_t batch = token / job.tokens;
    const std::int64_t in_batch = token % job.tokens;
    const Element* const x_token = x + batch * job.x_strides[0] + in_batch * job.x_strides[1];
    Element* const y_token = y + batch * job.y_strides[0] + in_batch * job.y_strides[1];
    for (std::size_t tile = 0; tile < pairs; tile += rope_tile_pairs) {
      const std::size_t count = std::min(rope_tile_pairs, pairs - tile);
      if (token != token_of_row || pairs > rope_tile_pairs) {
        FillRow(job, token, tile, count, row);
        FillUp(job, count, row);
        token_of_row = token;
      }
      for (std::int64_t head = head_begin; head < head_end; ++head) {
        const Element* from = x_token + head * job.x_strides[2];
        Element* const to = y_token + head * job.y_strides[2];
        if (set_aside > 0) {
          if (tile == 0) std::memcpy(aside, from, set_aside * sizeof(Element));
          from = aside;
        }
        const auto offset = static_cast<std::int64_t>(tile);
        const Element* const from0 = from + (in == Pairing::half ? offset : 2 * offset);
        Element* const to0 = to + (out == Pairing::half ? offset : 2 * offset);
        TurnPairs<Kernel, rounding, in, out>(row, count, from0, from0 + (in == Pairing::half ? job.half : 0), to0,
                                             to0 + (out == Pairing::half ? job.half : 0));
        if (tile == 0) {
          for (const Move& move : job.moves) MoveChannels(move, from, to);
        }
      }
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
      return powers ? RotateUnitsOf<TurnFloat32<PairBounds>, certified>(job, first, last) : RotateUnitsOf<TurnFloat32<SharedBounds>>(job, first, last);
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
      FillRow(job, token, tile, count, row);
      FillUp(job, count, row);
      TurnPairs<Kernel, Rounding::certified, Pairing::half, Pairing::half>(row, count, ones, zeros, cos_row + tile, sin_row + tile);
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

void rotate_units(const RopeJob& job, std::int64_t first, std::int64_t last) { HWY_DYNAMIC_DISPATCH(Rotate)(job, first, last); }

void write_rotation_rows(const RopeJob& job, std::byte* sin, std::int64_t sin_stride, std::int64_t first, std::int64_t last) {
  HWY_DYNAMIC_DISPATCH(Tabulate)(job, sin, sin_stride, first, last);
}

}  // namespace sextant
#endif
