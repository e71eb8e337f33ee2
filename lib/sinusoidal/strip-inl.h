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

#include <array>
#include <limits>
#include <optional>

#include "lib/numeric/certify-inl.h"
#include "lib/numeric/rotations-inl.h"
#include "lib/sinusoidal/row_placer-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

/// Pairs whose anchors are kept at a time.
inline constexpr std::size_t tile_pairs = 512;
/// Turns of an anchor between two exact phases, by step 1.
inline constexpr int most_turns = 31;
/// Fewer rows than this do not pay for a double-double anchor.
inline constexpr std::int64_t few_rows = 4;

struct Anchors {
  alignas(64) std::array<double, tile_pairs> sin_high;
  alignas(64) std::array<double, tile_pairs> cos_high;
  alignas(64) std::array<double, tile_pairs> sin_low;
  alignas(64) std::array<double, tile_pairs> cos_low;
};

HWY_INLINE bool ScaleIsModerate(double scale) { return std::fabs(scale) >= 0x1p-800 && std::fabs(scale) <= 0x1p900; }

inline void FillSteps(SinusoidalPlan& plan) {
  const Doubles d;
  const UnitCircle& circle = unit_circle();
  for (std::int64_t j = 0; j <= plan.block; ++j) {
    for (std::size_t pair = 0; pair < plan.frequencies.padded(); pair += hn::Lanes(d)) {
      const PreciseRotation step = PreciseRotationAt(plan.frequencies, pair, split_position(j), circle);
      StepGroup& high = plan.step_high[plan.step_at(j, pair)];
      StepGroup& low = plan.step_low[plan.step_at(j, pair)];
      const std::size_t lane = pair % FrequencyPieces::lanes;
      hn::Store(step.sin.high, d, high.sin.data() + lane);
      hn::Store(step.sin.low, d, low.sin.data() + lane);
      hn::Store(step.cos.high, d, high.cos.data() + lane);
      hn::Store(step.cos.low, d, low.cos.data() + lane);
    }
  }
}

/// (z turned by step) in double-double.
HWY_INLINE PreciseRotation Turn(const PreciseRotation& z, const PreciseRotation& step) {
  return {Add(Multiply(z.sin, step.cos), Multiply(z.cos, step.sin)), Add(Multiply(z.cos, step.cos), Negate(Multiply(z.sin, step.sin)))};
}

HWY_INLINE PreciseRotation LoadStep(const SinusoidalPlan& plan, std::int64_t j, std::size_t pair) {
  const Doubles d;
  const StepGroup& high = plan.step_high[plan.step_at(j, pair)];
  const StepGroup& low = plan.step_low[plan.step_at(j, pair)];
  const std::size_t lane = pair % FrequencyPieces::lanes;
  return {{hn::Load(d, high.sin.data() + lane), hn::Load(d, low.sin.data() + lane)}, {hn::Load(d, high.cos.data() + lane), hn::Load(d, low.cos.data() + lane)}};
}

HWY_INLINE PreciseRotation LoadAnchor(const Anchors& anchors, std::size_t i) {
  const Doubles d;
  return {{hn::Load(d, anchors.sin_high.data() + i), hn::Load(d, anchors.sin_low.data() + i)},
          {hn::Load(d, anchors.cos_high.data() + i), hn::Load(d, anchors.cos_low.data() + i)}};
}

HWY_INLINE void StoreAnchor(const PreciseRotation& z, std::size_t i, Anchors& anchors) {
  const Doubles d;
  hn::Store(z.sin.high, d, anchors.sin_high.data() + i);
  hn::Store(z.sin.low, d, anchors.sin_low.data() + i);
  hn::Store(z.cos.high, d, anchors.cos_high.data() + i);
  hn::Store(z.cos.low, d, anchors.cos_low.data() + i);
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
      hn::Store(hn::Mul(z.sin, scale), d, anchors_.sin_high.data() + i);
      hn::Store(hn::Mul(z.cos, scale), d, anchors_.cos_high.data() + i);
    }
  }

 private:
  const SinusoidalPlan& plan_;
  Tile tile_;
  int turns_ = most_turns;
  std::int64_t position_ = 0;
  Anchors anchors_;
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

/// Computes the open lanes anew, first in double-double, then by the last tier. False if that does not decide either. Vectors are passed by
/// value: references to them would keep the caller's in memory.
template <class Type>
HWY_NOINLINE bool Redo(const SinusoidalPlan& plan, std::size_t pair, std::int64_t position, Certified<BitsTag<Type>> sin,
                       Certified<BitsTag<Type>> cos, Elements<Type>& out) {
  using Lane = hn::TFromD<BitsTag<Type>>;
  constexpr std::size_t lanes = FrequencyPieces::lanes;
  const BitsTag<Type> bits;
  const Doubles d;
  const double scale = plan.encoding.scale;
  // Of the sines, then of the cosines.
  struct alignas(64) Lanes {
    std::array<double, lanes> high;
    std::array<double, lanes> low;
    std::array<Lane, lanes> element;
    std::array<Lane, lanes> open;
  };
  std::array<Lanes, 2> parts{};
  const PreciseRotation z = PreciseRotationAt(plan.frequencies, pair, split_position(position), unit_circle());
  const auto take = [&](const DoubleDouble<DoubleVector>& value, const Certified<BitsTag<Type>>& certified, Lanes& part) {
    const DoubleDouble<DoubleVector> scaled = Multiply(value, hn::Set(d, scale));
    hn::StoreU(scaled.high, d, part.high.data());
    hn::StoreU(scaled.low, d, part.low.data());
    hn::StoreU(certified.bits, bits, part.element.data());
    hn::StoreU(hn::VecFromMask(bits, certified.undecided), bits, part.open.data());
  };
  take(z.sin, sin, parts[0]);
  take(z.cos, cos, parts[1]);
  const double error = 0x1p-98 * std::fabs(scale);
  bool decided = true;
  for (std::size_t lane = 0; lane < hn::Lanes(d) && pair + lane < plan.frequencies.pairs(); ++lane) {
    for (const Component component : {Component::sin, Component::cos}) {
      Lanes& part = parts[component == Component::sin ? 0 : 1];
      if (part.open[lane] == 0) continue;
      std::optional<double> value;
      if (ScaleIsModerate(scale) && position != 0) value = round_interval(Type::dtype, part.high[lane], part.low[lane], error);
      if (!value) {
        value = exact_value(Type::dtype, plan.encoding, static_cast<std::int64_t>(pair + lane), position, component);
      }
      if (!value) {
        decided = false;
        continue;
      }
      typename Type::Element rounded;
      store(Type::dtype, *value, reinterpret_cast<std::byte*>(&rounded));
      part.element[lane] = rounded;
    }
  }
  out = {hn::LoadU(bits, parts[0].element.data()), hn::LoadU(bits, parts[1].element.data())};
  return decided;
}

/// The channels of a row: pairs side by side, of the one or the other order, or one half and then the other.
enum class Order { sin_cos, cos_sin, halves };

/// One row of a tile: the anchors turned by step j, rounded, certified if asked for, and put in place. In the concatenated layout vectors
/// go from the last to the first, so that what a padded vector of the earlier half writes too much is overwritten by the later half's.
template <class Type, Rounding rounding, Order order, Caching caching>
HWY_INLINE bool EncodeRow(const SinusoidalPlan& plan, const Tile& tile, const Anchors& anchors, std::int64_t j, std::int64_t position,
                          const RowPlace<Type>& place) {
  const Doubles d;
  const BitsTag<Type> bits;
  const double magnitude = std::fabs(plan.encoding.scale);
  const double bound_value = !ScaleIsModerate(magnitude) ? std::numeric_limits<double>::infinity()
                             : Type::dtype == Dtype::float64 ? 0x1p-93 * magnitude
                                                             : 0x1p-50 * magnitude;
  const DoubleVector bound = hn::Set(d, bound_value);
  const StepGroup* steps = plan.step_high.data() + plan.step_at(j, tile.first);
  const std::size_t padded = tile.padded;
  bool decided = true;
  for (std::size_t done = 0; done < padded; done += hn::Lanes(d)) {
    const std::size_t i = order == Order::halves ? padded - hn::Lanes(d) - done : done;
    // Given values, since GCC makes the default constructor of a struct for the baseline target, where vectors of this one are unknown.
    Certified<BitsTag<Type>> sin{hn::Zero(bits), hn::FirstN(bits, 0)};
    Certified<BitsTag<Type>> cos = sin;
    Elements<Type> elements{sin.bits, cos.bits};
    if constexpr (Type::dtype == Dtype::float64) {
      const PreciseRotation z = Turn(LoadAnchor(anchors, i), LoadStep(plan, j, tile.first + i));
      elements = {Type::Round(d, z.sin.high), Type::Round(d, z.cos.high)};
      if constexpr (rounding == Rounding::certified) {
        sin = Type::Certify(d, z.sin, bound);
        cos = Type::Certify(d, z.cos, bound);
      }
    } else {
      const StepGroup& step = steps[i / FrequencyPieces::lanes];
      const DoubleVector step_sin = hn::Load(d, step.sin.data() + i % FrequencyPieces::lanes);
      const DoubleVector step_cos = hn::Load(d, step.cos.data() + i % FrequencyPieces::lanes);
      const DoubleVector z_sin = hn::Load(d, anchors.sin_high.data() + i);
      const DoubleVector z_cos = hn::Load(d, anchors.cos_high.data() + i);
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
        Elements<Type> redone = elements;
        decided &= Redo<Type>(plan, tile.first + i, position, sin, cos, redone);
        elements = redone;
      }
    }
    if constexpr (order == Order::halves) {
      if (place.earlier == Component::sin) {
        StoreElements(Type(), d, elements.sin, place.sin + i);
        StoreElements(Type(), d, elements.cos, place.cos + i);
      } else {
        StoreElements(Type(), d, elements.cos, place.cos + i);
        StoreElements(Type(), d, elements.sin, place.sin + i);
      }
    } else {
      const auto first = order == Order::sin_cos ? elements.sin : elements.cos;
      const auto second = order == Order::sin_cos ? elements.cos : elements.sin;
      if constexpr (caching == Caching::streamed) {
        StreamPairs(Type(), d, first, second, place.sin + 2 * i);
      } else {
        StorePairs(Type(), d, first, second, place.sin + 2 * i);
      }
    }
  }
  return decided;
}

template <class Type, Rounding rounding, Order order, Caching caching>
HWY_NOINLINE bool EncodeRows(const SinusoidalPlan& plan, const Tile& tile, const Strip& strip, RowPlacer<Type>& placer) {
  MovingAnchors anchors(plan, tile);
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
      decided &= EncodeRow<Type, rounding, order, caching>(plan, tile, anchors.At(), position - anchor, position, placer.Place(row));
      placer.Advance();
    }
  }
  placer.Finish();
  return decided;
}

template <class Type, Rounding rounding>
bool EncodeTile(const SinusoidalPlan& plan, const Tile& tile, const Strip& strip) {
  RowPlacer<Type> placer(plan, tile, strip);
  if (plan.encoding.layout == Layout::concatenated) return EncodeRows<Type, rounding, Order::halves, Caching::kept>(plan, tile, strip, placer);
  const bool streamed = placer.Stores() == Caching::streamed;
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
