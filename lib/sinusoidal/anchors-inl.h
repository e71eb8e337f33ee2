// The anchors of a block of rows, and the steps that turn them to its rows, for one Highway target.
//
//   1. An anchor is scale e^{i w p} for each pair of a tile, p in the middle of a block of rows, in double-double.
//   2. It is the one of the block before, turned by the rotation over a whole block, at most most_turns times; else it
//      comes from the exact phase.
//   3. Few rows do not pay for that and have an anchor in double.
//   4. The rows j after an anchor and j before it are made of the same products of anchor and step.
//
// docs/proofs/sinusoidal-rows.md, step 1, has the bounds.

#if defined(SEXTANT_LIB_SINUSOIDAL_ANCHORS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_LIB_SINUSOIDAL_ANCHORS_INL_H_
#undef SEXTANT_LIB_SINUSOIDAL_ANCHORS_INL_H_
#else
#define SEXTANT_LIB_SINUSOIDAL_ANCHORS_INL_H_
#endif

#include <hwy/highway.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "lib/kernels/rotations-inl.h"
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
    const SplitPosition position = split_position(j < plan.block ? j : plan.span());
    for (std::size_t pair = 0; pair < plan.frequencies.padded(); pair += hn::Lanes(d)) {
      const PreciseRotation step = PreciseRotationAt(plan.frequencies, pair, position, circle);
      StepGroup& high = plan.step_high[plan.step_at(j, pair)];
      StepGroup& low = plan.step_low[plan.step_at(j, pair)];
      const std::size_t lane = pair % FrequencyPieces::lanes;
      StorePrecise(step, lane, high.cos.data(), high.sin.data(), low.cos.data(), low.sin.data());
      if (j == plan.block) continue;
      SingleStepGroup& single = plan.step_single[plan.single_step_at(j, pair)];
      const hn::Rebind<float, Doubles> df;
      const std::size_t single_lane = pair % SingleStepGroup::lanes;
      hn::Store(NearestFloat(d, step.sin.high), df, single.sin.data() + single_lane);
      hn::Store(NearestFloat(d, step.cos.high), df, single.cos.data() + single_lane);
    }
  }
}

HWY_INLINE PreciseRotation Conjugate(const PreciseRotation& z) { return {Negate(z.sin), z.cos}; }

HWY_INLINE PreciseRotation LoadStep(const SinusoidalPlan& plan, std::int64_t j, std::size_t pair) {
  const StepGroup& high = plan.step_high[plan.step_at(j, pair)];
  const StepGroup& low = plan.step_low[plan.step_at(j, pair)];
  return LoadPrecise(pair % FrequencyPieces::lanes, high.cos.data(), high.sin.data(), low.cos.data(), low.sin.data());
}

HWY_INLINE PreciseRotation LoadAnchor(const Anchors& anchors, std::size_t i) {
  return LoadPrecise(i, anchors.cos_high.data(), anchors.sin_high.data(), anchors.cos_low.data(),
                     anchors.sin_low.data());
}

HWY_INLINE void StoreAnchor(const PreciseRotation& z, std::size_t i, Anchors& anchors) {
  StorePrecise(z, i, anchors.cos_high.data(), anchors.sin_high.data(), anchors.cos_low.data(), anchors.sin_low.data());
}

/// Where the step of lane i is, i a multiple of a vector's lanes, in doubles from that of lane 0; the cosine follows
/// `lanes` after the sine.
HWY_INLINE std::size_t StepOffset(std::size_t i) {
  constexpr std::size_t lanes = FrequencyPieces::lanes;
  return hn::MaxLanes(Doubles()) == lanes ? 2 * i : i / lanes * (2 * lanes) + i % lanes;
}

/// The same where two vectors follow each other from i on, a multiple of the lanes of both or of a group's. Two of four
/// lanes fill a group.
HWY_INLINE std::size_t StepOffsetOfTwo(std::size_t i) {
  return 2 * hn::MaxLanes(Doubles()) >= FrequencyPieces::lanes ? 2 * i : StepOffset(i);
}
/// From the step of the first of them to that of the second.
inline constexpr std::size_t from_first_to_second_step =
    hn::MaxLanes(Doubles()) == FrequencyPieces::lanes ? 2 * FrequencyPieces::lanes : hn::MaxLanes(Doubles());

/// Anchors z and a step of angle t, of which the rows to both sides of the anchor are made: p + j is e^{i t} z, p - j
/// is e^{-i t} z. They share two products, or without fused operations all four.
struct Products {
  Rotation z;
  DoubleVector step_cos;
  DoubleVector cos_sin;  // cos of the anchor, sin of the step
  DoubleVector sin_sin;

  HWY_INLINE Rotation After() const {
    return {hn::MulAdd(z.sin, step_cos, cos_sin), hn::MulSub(z.cos, step_cos, sin_sin)};
  }
  HWY_INLINE Rotation Before() const {
    return {hn::MulSub(z.sin, step_cos, cos_sin), hn::MulAdd(z.cos, step_cos, sin_sin)};
  }
};

/// `step` is where that of lane i is.
HWY_INLINE Products MultiplyInDouble(const double* step, const Anchors& anchors, std::size_t i) {
  const DoubleVector step_sin = hn::Load(Doubles(), step);
  const Rotation z = LoadRotation(i, anchors.cos_high.data(), anchors.sin_high.data());
  return {z, hn::Load(Doubles(), step + FrequencyPieces::lanes), hn::Mul(z.cos, step_sin), hn::Mul(z.sin, step_sin)};
}

/// Anchors of a tile, moved from block to block.
class MovingAnchors {
 public:
  MovingAnchors(const SinusoidalPlan& plan, const Tile& tile) : plan_(plan), tile_(tile) {}

  const Anchors& At() const { return anchors_; }

  /// In double-double: by a turn where the last ones lie one block before, else from the exact phase.
  void MoveTo(std::int64_t position) {
    const Doubles d;
    if (turns_ < most_turns && position == position_ + plan_.span()) {
      ++turns_;
      for (std::size_t i = 0; i < tile_.padded; i += hn::Lanes(d)) {
        StoreAnchor(Multiply(LoadAnchor(anchors_, i), LoadStep(plan_, plan_.block, tile_.first + i)), i, anchors_);
      }
    } else {
      turns_ = 0;
      const DoubleVector scale = hn::Set(d, plan_.encoding.scale);
      for (std::size_t i = 0; i < tile_.padded; i += hn::Lanes(d)) {
        const PreciseRotation z =
            PreciseRotationAt(plan_.frequencies, tile_.first + i, split_position(position), unit_circle());
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
      StoreRotation({hn::Mul(z.sin, scale), hn::Mul(z.cos, scale)}, i, anchors_.cos_high.data(),
                    anchors_.sin_high.data());
    }
  }

 private:
  const SinusoidalPlan& plan_;
  Tile tile_;
  int turns_ = most_turns;
  std::int64_t position_ = 0;
  Anchors anchors_;
};

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
