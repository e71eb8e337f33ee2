// The sinusoidal kernels for one Highway target: included by strip.cpp, which is compiled once per target.
//
//   1. A strip of rows is written tile of pairs after tile of pairs, its rows block by block: those whose positions lie
//      within a span of the first one's share an anchor in their middle (anchors-inl.h).
//   2. Rows of consecutive positions that are stored straight into the table are made two at a time, on both sides of
//      the anchor (quick_rows-inl.h); others one at a time, quickly where the scale and the layout allow it.
//      float64 alike (precise_rows-inl.h).
//   3. Other rows of float64, and what the quick certificate does not suit, are made with care (row-inl.h).
//
// docs/proofs/sinusoidal-rows.md has the bounds.

#if defined(SEXTANT_LIB_SINUSOIDAL_STRIP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_LIB_SINUSOIDAL_STRIP_INL_H_
#undef SEXTANT_LIB_SINUSOIDAL_STRIP_INL_H_
#else
#define SEXTANT_LIB_SINUSOIDAL_STRIP_INL_H_
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>

#include "lib/sinusoidal/float_rows-inl.h"
#include "lib/sinusoidal/precise_rows-inl.h"
#include "lib/sinusoidal/quick_lanes-inl.h"
#include "lib/sinusoidal/quick_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

/// The rows that one anchor serves, up to `end`: those whose positions lie in a block that begins with the first one's,
/// `ahead` at most from it.
struct Block {
  std::int64_t end;
  std::int64_t ahead;
};

inline Block BlockFrom(const SinusoidalPlan& plan, const Strip& strip, std::int64_t row) {
  const std::int64_t most = std::min(strip.last_row, row + plan.span());
  if (strip.list == nullptr && strip.step == 1) return {most, most - 1 - row};
  const std::int64_t first = strip.position(row);
  Block block{row + 1, 0};
  for (; block.end < most; ++block.end) {
    const std::int64_t distance = strip.position(block.end) - first;
    if (distance < 0 || distance >= plan.span()) break;
    block.ahead = std::max(block.ahead, distance);
  }
  return block;
}

template <class Type, Rounding rounding, Order order, Caching caching>
HWY_NOINLINE bool EncodeRows(const SinusoidalPlan& plan, const Tile& tile, const Strip& strip,
                             RowPlacer<Type>& placer) {
  MovingAnchors anchors(plan, tile);
  // In the concatenated layout a padded vector writes beyond its half, which only the careful order puts right.
  const bool quickly = Type::dtype != Dtype::float64 && SuitsQuickCertificate<Type>(plan.encoding.scale) &&
                       (order != Order::halves || tile.padded == tile.count);
  const QuickCertificate<Type> quick(quickly ? plan.encoding.scale : 1);
#if HWY_TARGET != HWY_SCALAR
  // Elements of 16 bits leave two vectors at a time, at addresses that are multiples of that.
  const std::size_t two_vectors = 2 * hn::Lanes(Doubles());
  const bool fits = Type::dtype == Dtype::float64
                        ? ScaleIsModerate(plan.encoding.scale)
                        : quickly && tile.padded >= two_vectors &&
                              (sizeof(typename Type::Element) > 2 || tile.padded % two_vectors == 0);
  const bool both_sides = fits && placer.Direct() && strip.list == nullptr && strip.step == 1;
#endif
  bool decided = true;
  for (std::int64_t row = strip.first_row; row < strip.last_row;) {
    const std::int64_t first = strip.position(row);
    const auto [end, ahead] = BlockFrom(plan, strip, row);
    // In the middle, so that most rows have one on the other side.
    const std::int64_t anchor = first + ahead / 2;
    if (Type::dtype != Dtype::float64 && end - row < few_rows) {
      anchors.ApproximateAt(anchor);
    } else {
      anchors.MoveTo(anchor);
    }
    const auto at = [&](std::int64_t offset) { return RowOf{plan, tile, anchors.At(), anchor, offset}; };
    const auto one = [&](std::int64_t r) HWY_ATTR {
      const RowOf this_row = at(strip.position(r) - anchor);
      const RowPlace<Type> place = placer.Place(r);
      if constexpr (Type::dtype != Dtype::float64) {
        if (quickly) {
          decided &= EncodeQuickly<Type, rounding, order, caching>(this_row, place, quick);
          placer.Advance();
          return;
        }
      }
      decided &= EncodeWithCare<Type, rounding, order, caching>(this_row, place);
      placer.Advance();
    };
    std::int64_t single_end = end;
#if HWY_TARGET != HWY_SCALAR
    if (both_sides) {
      const std::int64_t middle = row + anchor - first;
      const std::int64_t both = std::min(middle - row, end - 1 - middle);
      if (both > 0) {
        const RowPlace<Type> place = placer.Place(middle);
        const std::size_t stride = placer.Stride();
        if constexpr (Type::dtype == Dtype::float64) {
          decided &= EncodeBothSidesPrecisely<rounding, order, caching>(at(0), place, stride, both);
        } else if constexpr (turns_in_float<Type>) {
          decided &= EncodeBothSidesInFloat<Type, order, caching>(at(0), {place, static_cast<std::ptrdiff_t>(stride)},
                                                                  both, quick);
        } else {
          decided &= EncodeBothSides<Type, rounding, order, caching>(at(0), place, stride, both, quick);
        }
      }
      one(middle);
      for (std::int64_t r = middle + both + 1; r < end; ++r) one(r);
      single_end = middle - both;
    }
#endif
    for (; row < single_end; ++row) one(row);
    row = end;
  }
  placer.Finish();
  return decided;
}

template <class Type, Rounding rounding>
bool EncodeTile(const SinusoidalPlan& plan, const Tile& tile, const Strip& strip) {
  RowPlacer<Type> placer(plan, tile, strip);
  const bool streamed = placer.Stores() == Caching::streamed;
  if (plan.encoding.layout == Layout::concatenated) {
    return streamed ? EncodeRows<Type, rounding, Order::halves, Caching::streamed>(plan, tile, strip, placer)
                    : EncodeRows<Type, rounding, Order::halves, Caching::kept>(plan, tile, strip, placer);
  }
  if (plan.encoding.first == First::sin) {
    return streamed ? EncodeRows<Type, rounding, Order::sin_cos, Caching::streamed>(plan, tile, strip, placer)
                    : EncodeRows<Type, rounding, Order::sin_cos, Caching::kept>(plan, tile, strip, placer);
  }
  return streamed ? EncodeRows<Type, rounding, Order::cos_sin, Caching::streamed>(plan, tile, strip, placer)
                  : EncodeRows<Type, rounding, Order::cos_sin, Caching::kept>(plan, tile, strip, placer);
}

template <class Type>
bool Encode(const SinusoidalPlan& plan, const Strip& strip) {
  bool decided = true;
  for (std::size_t first = 0; first < plan.frequencies.pairs(); first += tile_pairs) {
    const Tile tile{first, std::min(tile_pairs, plan.frequencies.pairs() - first),
                    std::min(tile_pairs, plan.frequencies.padded() - first)};
    decided &= strip.rounding == Rounding::certified ? EncodeTile<Type, Rounding::certified>(plan, tile, strip)
                                                     : EncodeTile<Type, Rounding::fast>(plan, tile, strip);
  }
  if (strip.caching == Caching::streamed) hwy::FlushStream();
  return decided;
}

inline bool EncodeFloat32(const SinusoidalPlan& plan, const Strip& strip) { return Encode<Float32>(plan, strip); }
inline bool EncodeFloat16(const SinusoidalPlan& plan, const Strip& strip) { return Encode<Float16>(plan, strip); }
inline bool EncodeBFloat16(const SinusoidalPlan& plan, const Strip& strip) { return Encode<BFloat16>(plan, strip); }
inline bool EncodeFloat64(const SinusoidalPlan& plan, const Strip& strip) { return Encode<Float64>(plan, strip); }

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
