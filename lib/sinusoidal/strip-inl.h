// The sinusoidal kernels for one Highway target: included by strip.cpp, which is compiled once per target.
//
// The encoding's own linear shift is the algorithm: PE(p + j) is PE(p) turned by e^{i w j} (Vaswani et al. 2017, section 3.5). A block of rows
// keeps an anchor z = scale e^{i w p} for each pair, and row p + j is one complex product with a row of steps that is computed once per encoder.
//
// The bounds. u = 2^-53, s = |scale|; all are absolute, and of vectors (sin, cos) in the Euclidean norm, which rotations keep.
//
// 1. An anchor in double-double. From the exact phase: precise_rotation_error of each component, 128 u^2, times the scale by a product of relative
//    error 8 u^2 (5 for a double factor): at most sqrt(2) 136 u^2 s < 193. From the anchor one block before, turned by the double-double step: the
//    error of that anchor; sqrt(2) 128 < 182 for the step; products 8 (|s C| + |c S|) <= 8 and addition 3 of each component, 16 of both. So after
//    at most 31 turns 193 + 31 * 198 = 6331 u^2 s.
// 2. float64: the product of anchor and step in double-double is one turn more: 6529 u^2 s; the certificate's own rounding adds
//    u (|low| + bound) < 2 u^2 s. Below 2^13 u^2 s = 2^-93 s.
// 3. The narrower types: the anchor's high part alone, or where few rows share it the rotation in double: rotation_error + one rounding of the
//    scale's product, 2.25 u s of each component, the worse of the two. Steps rounded to double, u/2. Of one component: the anchor's error
//    times |S| + |C| <= sqrt(2): 3.19; the steps' error times |zs| + |zc|: 0.71; the product zc S and, where operations are not fused, zs C rounded:
//    1 together (Cauchy); the sum rounded: 1. In all 5.9 u s. The certificate needs the rounding of value -+ bound besides, 1 u s: 6.9 < 8 = 2^-50 s.
// Second-order terms are below a thousandth of each margin. No underflow matters: the scale is in [2^-800, 2^900] here, so that what products
// lose, 2^-1074 each, is nothing beside 2^-93 s; and TwoProduct's splitting does not overflow.
//
// A lane that the certificate leaves open is computed by itself from the exact phase in double-double (step 1, 136 u^2 s < 2^-98 s), and what that
// leaves open by exact.cpp. Scales outside of that range go there at once.

#if defined(SEXTANT_LIB_SINUSOIDAL_STRIP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_LIB_SINUSOIDAL_STRIP_INL_H_
#undef SEXTANT_LIB_SINUSOIDAL_STRIP_INL_H_
#else
#define SEXTANT_LIB_SINUSOIDAL_STRIP_INL_H_
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include "lib/numeric/certify-inl.h"
#include "lib/numeric/rotations-inl.h"
#include "lib/sinusoidal/row_writer-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

/// Pairs whose anchors are kept at a time.
inline constexpr std::size_t tile_pairs = 512;
/// Turns of an anchor between two exact phases, by step 1.
inline constexpr int most_turns = 31;
/// Fewer rows than this do not pay for a double-double anchor.
inline constexpr std::int64_t few_rows = 4;

struct Anchors {
  alignas(64) double sin_high[tile_pairs];
  alignas(64) double cos_high[tile_pairs];
  alignas(64) double sin_low[tile_pairs];
  alignas(64) double cos_low[tile_pairs];
};

/// The pairs [first, first + count) of the plan; `padded` lanes are computed.
struct Tile {
  std::size_t first;
  std::size_t count;
  std::size_t padded;
};

HWY_INLINE bool ScaleIsModerate(double scale) { return std::fabs(scale) >= 0x1p-800 && std::fabs(scale) <= 0x1p900; }

inline void FillSteps(SinusoidalPlan& plan) {
  const Doubles d;
  const UnitCircle& circle = unit_circle();
  for (std::int64_t j = 0; j <= plan.block; ++j) {
    for (std::size_t pair = 0; pair < plan.frequencies.padded(); pair += hn::Lanes(d)) {
      const PreciseRotation step = PreciseRotationAt(plan.frequencies, pair, split_position(j), circle);
      const std::size_t at = plan.step_at(j, pair);
      hn::StoreU(step.sin.high, d, &plan.step_high[at]);
      hn::StoreU(step.sin.low, d, &plan.step_low[at]);
      hn::StoreU(step.cos.high, d, &plan.step_high[at + FrequencyPieces::lanes]);
      hn::StoreU(step.cos.low, d, &plan.step_low[at + FrequencyPieces::lanes]);
    }
  }
}

/// (z turned by step) in double-double.
HWY_INLINE PreciseRotation Turn(const PreciseRotation& z, const PreciseRotation& step) {
  return {Add(Multiply(z.sin, step.cos), Multiply(z.cos, step.sin)), Add(Multiply(z.cos, step.cos), Negate(Multiply(z.sin, step.sin)))};
}

HWY_INLINE PreciseRotation LoadStep(const SinusoidalPlan& plan, std::int64_t j, std::size_t pair) {
  const Doubles d;
  const double* high = plan.step_high.data() + plan.step_at(j, pair);
  const double* low = plan.step_low.data() + plan.step_at(j, pair);
  return {{hn::LoadU(d, high), hn::LoadU(d, low)},
          {hn::LoadU(d, high + FrequencyPieces::lanes), hn::LoadU(d, low + FrequencyPieces::lanes)}};
}

HWY_INLINE PreciseRotation LoadAnchor(const Anchors& anchors, std::size_t i) {
  const Doubles d;
  return {{hn::Load(d, anchors.sin_high + i), hn::Load(d, anchors.sin_low + i)},
          {hn::Load(d, anchors.cos_high + i), hn::Load(d, anchors.cos_low + i)}};
}

HWY_INLINE void StoreAnchor(const PreciseRotation& z, std::size_t i, Anchors& anchors) {
  const Doubles d;
  hn::Store(z.sin.high, d, anchors.sin_high + i);
  hn::Store(z.sin.low, d, anchors.sin_low + i);
  hn::Store(z.cos.high, d, anchors.cos_high + i);
  hn::Store(z.cos.low, d, anchors.cos_low + i);
}

/// Anchors of a tile, moved from block to block.
class MovingAnchors {
 public:
  MovingAnchors(const SinusoidalPlan& plan, const Tile& tile) : plan_(plan), tile_(tile) {}

  const Anchors& At() const { return anchors_; }

  /// In double-double: by a turn where the last ones lie one block before, else from the exact phase.
  void MoveTo(std::int64_t position) {
    const Doubles d;
    if (turns_ < most_turns && position == position_ + plan_.block) {
      ++turns_;
      for (std::size_t i = 0; i < tile_.padded; i += hn::Lanes(d)) {
        StoreAnchor(Turn(LoadAnchor(anchors_, i), LoadStep(plan_, plan_.block, tile_.first + i)), i, anchors_);
      }
    } else {
      turns_ = 0;
      const DoubleVector scale = hn::Set(d, plan_.encoding.scale);
      for (std::size_t i = 0; i < tile_.padded; i += hn::Lanes(d)) {
        const PreciseRotation z = PreciseRotationAt(plan_.frequencies, tile_.first + i, split_position(position), unit_circle());
        StoreAnchor({Multiply(z.sin, scale), Multiply(z.cos, scale)}, i, anchors_);
      }
    }
    position_ = position;
  }

  /// In double, high parts only.
  void ApproximateAt(std::int64_t position) {
    const Doubles d;
    turns_ = most_turns;
    const DoubleVector scale = hn::Set(d, plan_.encoding.scale);
    for (std::size_t i = 0; i < tile_.padded; i += hn::Lanes(d)) {
      const Rotation z = RotationAt(plan_.frequencies, tile_.first + i, split_position(position), unit_circle());
      hn::Store(hn::Mul(z.sin, scale), d, anchors_.sin_high + i);
      hn::Store(hn::Mul(z.cos, scale), d, anchors_.cos_high + i);
    }
  }

 private:
  const SinusoidalPlan& plan_;
  Tile tile_;
  int turns_ = most_turns;
  std::int64_t position_ = 0;
  Anchors anchors_;
};

/// Where a row of a tile goes, and how: `sin` and `cos` are the two halves for the concatenated layout; for the interleaved one the earlier of
/// them is where the pairs begin.
template <class Type>
struct RowPlace {
  typename Type::Element* sin;
  typename Type::Element* cos;
  Caching caching;
};

template <class Type>
using BitsTag = typename Type::template Bits<Doubles>;
template <class Type>
using BitsVector = hn::Vec<BitsTag<Type>>;

/// Elements of the lanes of one vector of pairs.
template <class Type>
struct Elements {
  BitsVector<Type> sin;
  BitsVector<Type> cos;
};

/// Computes the open lanes anew, first in double-double, then by the last tier. False if that does not decide either.
template <class Type>
HWY_NOINLINE bool Redo(const SinusoidalPlan& plan, std::size_t pair, std::int64_t position, const Certified<BitsTag<Type>>& sin,
                       const Certified<BitsTag<Type>>& cos, Elements<Type>& out) {
  using Lane = hn::TFromD<BitsTag<Type>>;
  constexpr std::size_t lanes = FrequencyPieces::lanes;
  const BitsTag<Type> bits;
  const Doubles d;
  const double scale = plan.encoding.scale;
  alignas(64) double high[2][lanes];
  alignas(64) double low[2][lanes];
  alignas(64) Lane element[2][lanes];
  alignas(64) Lane open[2][lanes];
  const PreciseRotation z = PreciseRotationAt(plan.frequencies, pair, split_position(position), unit_circle());
  const DoubleDouble<DoubleVector> scaled[2] = {Multiply(z.sin, hn::Set(d, scale)), Multiply(z.cos, hn::Set(d, scale))};
  for (int part = 0; part < 2; ++part) {
    hn::Store(scaled[part].high, d, high[part]);
    hn::Store(scaled[part].low, d, low[part]);
  }
  hn::Store(sin.bits, bits, element[0]);
  hn::Store(cos.bits, bits, element[1]);
  hn::Store(hn::VecFromMask(bits, sin.undecided), bits, open[0]);
  hn::Store(hn::VecFromMask(bits, cos.undecided), bits, open[1]);
  const double error = 0x1p-98 * std::fabs(scale);
  bool decided = true;
  for (std::size_t lane = 0; lane < hn::Lanes(d) && pair + lane < plan.frequencies.pairs(); ++lane) {
    for (int part = 0; part < 2; ++part) {
      if (open[part][lane] == 0) continue;
      std::optional<double> value;
      if (ScaleIsModerate(scale) && position != 0) value = round_interval(Type::dtype, high[part][lane], low[part][lane], error);
      if (!value) {
        value = exact_value(Type::dtype, plan.encoding, static_cast<std::int64_t>(pair + lane), position,
                            part == 0 ? Component::sin : Component::cos);
      }
      if (!value) {
        decided = false;
        continue;
      }
      typename Type::Element rounded;
      store(Type::dtype, *value, reinterpret_cast<std::byte*>(&rounded));
      element[part][lane] = rounded;
    }
  }
  out = {hn::Load(bits, element[0]), hn::Load(bits, element[1])};
  return decided;
}

/// One row of a tile: the anchors turned by step j, rounded, certified if asked for, and put in place. Vectors go from the last to the first, so
/// that in the concatenated layout what a padded vector of the earlier half writes too much is overwritten by the later half's.
template <class Type, Rounding rounding>
HWY_INLINE bool EncodeRow(const SinusoidalPlan& plan, const Tile& tile, const Anchors& anchors, std::int64_t j, std::int64_t position,
                          const RowPlace<Type>& place) {
  const Doubles d;
  const BitsTag<Type> bits;
  const double magnitude = std::fabs(plan.encoding.scale);
  const double bound_value = !ScaleIsModerate(magnitude) ? std::numeric_limits<double>::infinity()
                             : Type::dtype == Dtype::float64 ? 0x1p-93 * magnitude
                                                             : 0x1p-50 * magnitude;
  const DoubleVector bound = hn::Set(d, bound_value);
  const bool sin_first = plan.encoding.first == First::sin;
  const bool interleaved = plan.encoding.layout == Layout::interleaved;
  const double* steps = plan.step_high.data() + plan.step_at(j, tile.first);
  bool decided = true;
  for (std::size_t left = tile.padded; left != 0; left -= hn::Lanes(d)) {
    const std::size_t i = left - hn::Lanes(d);
    Certified<BitsTag<Type>> sin;
    Certified<BitsTag<Type>> cos;
    Elements<Type> elements;
    if constexpr (Type::dtype == Dtype::float64) {
      const PreciseRotation z = Turn(LoadAnchor(anchors, i), LoadStep(plan, j, tile.first + i));
      elements = {Type::Round(d, z.sin.high), Type::Round(d, z.cos.high)};
      if constexpr (rounding == Rounding::certified) {
        sin = Type::Certify(d, z.sin, bound);
        cos = Type::Certify(d, z.cos, bound);
      }
    } else {
      const double* step = steps + i / FrequencyPieces::lanes * (2 * FrequencyPieces::lanes) + i % FrequencyPieces::lanes;
      const DoubleVector step_sin = hn::LoadU(d, step);
      const DoubleVector step_cos = hn::LoadU(d, step + FrequencyPieces::lanes);
      const DoubleVector z_sin = hn::Load(d, anchors.sin_high + i);
      const DoubleVector z_cos = hn::Load(d, anchors.cos_high + i);
      const DoubleVector value_sin = hn::MulAdd(z_sin, step_cos, hn::Mul(z_cos, step_sin));
      const DoubleVector value_cos = hn::NegMulAdd(z_sin, step_sin, hn::Mul(z_cos, step_cos));
      if constexpr (rounding == Rounding::certified) {
        sin = Type::Certify(d, value_sin, bound);
        cos = Type::Certify(d, value_cos, bound);
      } else {
        elements = {Type::RoundTwice(d, value_sin), Type::RoundTwice(d, value_cos)};
      }
    }
    if constexpr (rounding == Rounding::certified) {
      elements = {sin.bits, cos.bits};
      if (HWY_UNLIKELY(!hn::AllFalse(bits, hn::Or(sin.undecided, cos.undecided)))) {
        decided &= Redo<Type>(plan, tile.first + i, position, sin, cos, elements);
      }
    }
    if (interleaved) {
      typename Type::Element* pairs = (sin_first ? place.sin : place.cos) + 2 * i;
      const auto first = sin_first ? elements.sin : elements.cos;
      const auto second = sin_first ? elements.cos : elements.sin;
      if (place.caching == Caching::streamed) {
        StreamPairs(Type(), d, first, second, pairs);
      } else {
        StorePairs(Type(), d, first, second, pairs);
      }
    } else if (sin_first) {
      StoreElements(Type(), d, elements.sin, place.sin + i);
      StoreElements(Type(), d, elements.cos, place.cos + i);
    } else {
      StoreElements(Type(), d, elements.cos, place.cos + i);
      StoreElements(Type(), d, elements.sin, place.sin + i);
    }
  }
  return decided;
}

/// Finds each row of a tile its place, in the table itself or by way of a RowWriter.
template <class Type>
class RowPlacer {
 public:
  using Element = typename Type::Element;

  RowPlacer(const SinusoidalPlan& plan, const Tile& tile, const Strip& strip)
      : plan_(plan), tile_(tile), strip_(strip), earlier_(strip.caching), later_(strip.caching) {
    const bool full_vectors = tile.padded == tile.count;
    const bool whole_lines = reinterpret_cast<std::uintptr_t>(strip.out.data) % cache_line == 0 &&
                             static_cast<std::size_t>(strip.out.row_stride) * sizeof(Element) % cache_line == 0;
    direct_ = full_vectors && (strip.caching == Caching::kept || (Interleaved() && sizeof(Element) < 8 && whole_lines));
  }

  RowPlace<Type> Place(std::int64_t row) {
    const auto stride = static_cast<std::size_t>(strip_.out.row_stride);
    auto* start = reinterpret_cast<Element*>(strip_.out.data) + static_cast<std::size_t>(row) * stride;
    if (Interleaved()) {
      Element* pairs = start + 2 * tile_.first;
      if (direct_) return {pairs, pairs, strip_.caching};
      Element* put = Through(earlier_, pairs, 2 * tile_.count);
      return {put, put, Caching::kept};
    }
    Element* earlier = start + tile_.first;
    Element* later = start + plan_.frequencies.pairs() + tile_.first;
    if (!direct_) {
      if (tile_.count == plan_.frequencies.pairs()) {
        earlier = Through(earlier_, earlier, 2 * tile_.count);
        later = earlier + tile_.count;
      } else {
        earlier = Through(earlier_, earlier, tile_.count);
        later = Through(later_, later, tile_.count);
      }
    }
    const bool sin_first = plan_.encoding.first == First::sin;
    return {sin_first ? earlier : later, sin_first ? later : earlier, Caching::kept};
  }

  void Advance() {
    if (direct_) return;
    earlier_.Advance();
    later_.Advance();
  }

  void Finish() {
    if (direct_) return;
    earlier_.Finish();
    later_.Finish();
  }

 private:
  bool Interleaved() const { return plan_.encoding.layout == Layout::interleaved; }

  static Element* Through(RowWriter& writer, Element* destination, std::size_t elements) {
    return reinterpret_cast<Element*>(writer.Row(reinterpret_cast<std::byte*>(destination), elements * sizeof(Element)));
  }

  const SinusoidalPlan& plan_;
  const Tile& tile_;
  const Strip& strip_;
  RowWriter earlier_;
  RowWriter later_;
  bool direct_ = false;
};

template <class Type, Rounding rounding>
bool EncodeTile(const SinusoidalPlan& plan, const Tile& tile, const Strip& strip) {
  MovingAnchors anchors(plan, tile);
  RowPlacer<Type> placer(plan, tile, strip);
  bool decided = true;
  for (std::int64_t row = strip.first_row; row < strip.last_row;) {
    // The rows that one anchor serves: up to `block` of them whose positions lie that near.
    const std::int64_t anchor = strip.position(row);
    const auto near = [&](std::int64_t other) {
      const std::int64_t ahead = strip.position(other) - anchor;
      return ahead >= 0 && ahead < plan.block;
    };
    std::int64_t end = row + 1;
    while (end < strip.last_row && end - row < plan.block && near(end)) ++end;
    if (Type::dtype != Dtype::float64 && end - row < few_rows) {
      anchors.ApproximateAt(anchor);
    } else {
      anchors.MoveTo(anchor);
    }
    for (; row < end; ++row) {
      const std::int64_t position = strip.position(row);
      decided &= EncodeRow<Type, rounding>(plan, tile, anchors.At(), position - anchor, position, placer.Place(row));
      placer.Advance();
    }
  }
  placer.Finish();
  return decided;
}

template <class Type>
bool Encode(const SinusoidalPlan& plan, const Strip& strip) {
  bool decided = true;
  for (std::size_t first = 0; first < plan.frequencies.pairs(); first += tile_pairs) {
    const Tile tile{first, std::min(tile_pairs, plan.frequencies.pairs() - first), std::min(tile_pairs, plan.frequencies.padded() - first)};
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
