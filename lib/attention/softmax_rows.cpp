// Steps of the online softmax on a row of scores (Milakov and Gimelshein 2018), compiled once per Highway target.
//
//   1. The bias is added; the greatest score so far is found.
//   2. A weight is exp(score - greatest), by Highway's Exp; NaN is kept. Weights are added lane by lane, and the lanes
//      at the end.
//   3. What was summed before is to be multiplied by exp(greatest before - greatest).
//
// docs/proofs/attention-encoder.md, steps 2 and 3, has the bounds.

#include "lib/attention/softmax_rows.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/attention/softmax_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Highway's Exp gives 0 for NaN: it is kept, so that a NaN in the input is one in the output.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V ExpKeepingNaN(D d, V x) {
  return hn::IfThenElse(hn::Eq(x, x), hn::Exp(d, x), x);
}

template <class Scalar>
HWY_INLINE Scalar TakeScores(Scalar* HWY_RESTRICT scores, const Scalar* HWY_RESTRICT bias, std::size_t count,
                             SoftmaxState<Scalar>& state) {
  const hn::ScalableTag<Scalar> d;
  using V = hn::Vec<decltype(d)>;
  const std::size_t lanes = hn::Lanes(d);
  const std::size_t whole = count - count % lanes;

  Scalar greatest = state.greatest;
  V highest = hn::Set(d, greatest);
  if (bias != nullptr) {
    for (std::size_t i = 0; i < whole; i += lanes) {
      const V biased = hn::Add(hn::LoadU(d, scores + i), hn::LoadU(d, bias + i));
      hn::StoreU(biased, d, scores + i);
      highest = hn::Max(highest, biased);
    }
    for (std::size_t i = whole; i < count; ++i) scores[i] += bias[i];
  } else {
    for (std::size_t i = 0; i < whole; i += lanes) highest = hn::Max(highest, hn::LoadU(d, scores + i));
  }
  greatest = hn::GetLane(hn::MaxOfLanes(d, highest));
  for (std::size_t i = whole; i < count; ++i) greatest = scores[i] > greatest ? scores[i] : greatest;

  V sums = hn::Zero(d);
  const V offset = hn::Set(d, greatest);
  for (std::size_t i = 0; i < whole; i += lanes) {
    const V weight = ExpKeepingNaN(d, hn::Sub(hn::LoadU(d, scores + i), offset));
    hn::StoreU(weight, d, scores + i);
    sums = hn::Add(sums, weight);
  }
  Scalar sum = hn::GetLane(hn::SumOfLanes(d, sums));
  for (std::size_t i = whole; i < count; ++i) {
    scores[i] = hn::GetLane(ExpKeepingNaN(d, hn::Set(d, scores[i] - greatest)));
    sum += scores[i];
  }
  const Scalar factor = hn::GetLane(ExpKeepingNaN(d, hn::Set(d, state.greatest - greatest)));
  state = {greatest, state.sum * factor + sum};
  return factor;
}

template <class Scalar>
HWY_INLINE void CapScores(Scalar* HWY_RESTRICT scores, std::size_t count, Scalar cap) {
  const hn::ScalableTag<Scalar> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto limit = hn::Set(d, cap);
  const auto capped = [&](auto x) HWY_ATTR {
    return hn::IfThenElse(hn::Eq(x, x), hn::Mul(limit, hn::Tanh(d, hn::Div(x, limit))), x);
  };
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(capped(hn::LoadU(d, scores + i)), d, scores + i);
  for (; i < count; ++i) scores[i] = hn::GetLane(capped(hn::Set(d, scores[i])));
}

float TakeFloats(float* scores, const float* bias, std::size_t count, SoftmaxState<float>& state) {
  return TakeScores(scores, bias, count, state);
}
double TakeDoubles(double* scores, const double* bias, std::size_t count, SoftmaxState<double>& state) {
  return TakeScores(scores, bias, count, state);
}
void CapFloats(float* scores, std::size_t count, float cap) { CapScores(scores, count, cap); }
void CapDoubles(double* scores, std::size_t count, double cap) { CapScores(scores, count, cap); }
const char* SoftmaxTarget() { return hwy::TargetName(HWY_TARGET); }

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant {
namespace {

HWY_EXPORT(TakeFloats);
HWY_EXPORT(TakeDoubles);
HWY_EXPORT(CapFloats);
HWY_EXPORT(CapDoubles);
HWY_EXPORT(SoftmaxTarget);

}  // namespace

template <>
float take_scores(float* scores, const float* bias, std::size_t count, SoftmaxState<float>& state) {
  return HWY_DYNAMIC_DISPATCH(TakeFloats)(scores, bias, count, state);
}

template <>
double take_scores(double* scores, const double* bias, std::size_t count, SoftmaxState<double>& state) {
  return HWY_DYNAMIC_DISPATCH(TakeDoubles)(scores, bias, count, state);
}

template <>
void cap_scores(float* scores, std::size_t count, float cap) {
  HWY_DYNAMIC_DISPATCH(CapFloats)(scores, count, cap);
}

template <>
void cap_scores(double* scores, std::size_t count, double cap) {
  HWY_DYNAMIC_DISPATCH(CapDoubles)(scores, count, cap);
}

std::string softmax_target() { return HWY_DYNAMIC_DISPATCH(SoftmaxTarget)(); }

}  // namespace sextant
#endif
