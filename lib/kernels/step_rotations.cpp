// Rotations of each frequency by 0 to 15 positions, by which rows are turned from an anchor, compiled once per Highway
// target.
//
//   1. Each is the rotation at the position j itself (rotations-inl.h), in groups as the kernels load them; with rates
//      (xPos) times the power of its pair at j (powers-inl.h).
//   2. For 16-bit elements the same once more, rounded to float, two groups in one.
//
// docs/proofs/encoder-rotations.md, steps 3 to 5, and encoder-powers.md, step 5, have the bounds; what a product of an
// anchor and a step errs by is rope.md, step 3.

#include "lib/kernels/step_rotations.hpp"

#include "lib/kernels/targets.hpp"
#include "lib/kernels/unit_circle.hpp"
#include "lib/numeric/standard_arithmetic.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/kernels/step_rotations.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "lib/kernels/powers-inl.h"
#include "lib/kernels/rotations-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

void FillStepRotations(const FrequencyPieces& frequencies, const PowerRates* rates, std::vector<StepGroup>& groups) {
  const Doubles d;
  const std::size_t row = groups.size() / StepRotations::count;
  for (std::int64_t j = 0; j < StepRotations::count; ++j) {
    for (std::size_t i = 0; i < frequencies.padded(); i += hn::Lanes(d)) {
      Rotation step = RotationAt(frequencies, i, split_position(j), unit_circle());
      if (rates != nullptr) {
        const DoubleVector power = PowerAt(*rates, i, hn::Set(d, static_cast<double>(j)), binary_powers()).high;
        step = {hn::Mul(step.sin, power), hn::Mul(step.cos, power)};
      }
      StepGroup& group = groups[static_cast<std::size_t>(j) * row + i / FrequencyPieces::lanes];
      StoreRotation(step, i % FrequencyPieces::lanes, group.cos.data(), group.sin.data());
    }
  }
}

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant {
namespace {

HWY_EXPORT(FillStepRotations);

}  // namespace

StepRotations::StepRotations(const FrequencyPieces& frequencies)
    : groups_(frequencies.padded() / FrequencyPieces::lanes * static_cast<std::size_t>(count)) {
  target_in_use();  // before the first dispatch
  const StandardArithmetic arithmetic;
  HWY_DYNAMIC_DISPATCH(FillStepRotations)(frequencies, nullptr, groups_);
  fill_in_float();
}

StepRotations::StepRotations(const FrequencyPieces& frequencies, const PowerRates& rates)
    : groups_(frequencies.padded() / FrequencyPieces::lanes * static_cast<std::size_t>(count)) {
  target_in_use();
  const StandardArithmetic arithmetic;
  HWY_DYNAMIC_DISPATCH(FillStepRotations)(frequencies, &rates, groups_);
  fill_in_float();
}

void StepRotations::fill_in_float() {
  const std::size_t row = groups_.size() / count;
  const std::size_t row_in_float = (row + 1) / 2;
  in_float_.assign(row_in_float * count, StepGroupInFloat{});
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    const std::size_t group = i % row;
    StepGroupInFloat& to = in_float_[i / row * row_in_float + group / 2];
    for (std::size_t k = 0; k < FrequencyPieces::lanes; ++k) {
      const std::size_t at = group % 2 * FrequencyPieces::lanes + k;
      to.sin[at] = static_cast<float>(groups_[i].sin[k]);
      to.cos[at] = static_cast<float>(groups_[i].cos[k]);
    }
  }
}

}  // namespace sextant
#endif
