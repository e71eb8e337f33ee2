// Steps of the online softmax on a row of scores (Milakov and Gimelshein 2018), compiled once per Highway target.
//
//   1. The bias is added; the greatest score so far is found.
//   2. A weight is exp(score - greatest): in float32, where operations are fused, half of the operations of Highway's
//      Exp, which is for the others; NaN is kept. Weights are added lane by lane, and the lanes at the end.
//   3. What was summed before is to be multiplied by exp(greatest before - greatest).
//
// docs/proofs/attention-encoder.md, steps 2, 3, 6 and 7, has the bounds.

#include "lib/attention/softmax_rows.hpp"

#include <iterator>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/attention/softmax_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_NATIVE_FMA
// e^x of float32 x <= 0 or NaN, which is kept: docs/proofs/attention-encoder.md, steps 6 and 7.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V FusedExponential(D d, V x) {
  // ln 2 = 22713/32768 (0x1.62E4p-1) + rest_of_ln2; below least_argument e^x is less than the least normal number.
  // ci/constants: double double double = 1/ln2, ln2 - 22713/32768, -126*ln2
  constexpr auto inverse_ln2 = static_cast<float>(1.4426950408889634);
  constexpr auto rest_of_ln2 = static_cast<float>(1.4286068203094173e-06);
  constexpr auto least_argument = static_cast<float>(-87.3365447505531);
  // ci/constants: double[5] = 1/factorial(7), 1/factorial(6), 1/factorial(5), 1/factorial(4), 1/factorial(3)
  constexpr double coefficients[] = {1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5, 1, 1};
  // A float at 1.5 2^23 has a last place of 1: adding that rounds x/ln2 to the whole number n. With 127 more the last 8
  // bits of the sum are n + 127, the exponent field of 2^n.
  const auto offset = hn::Set(d, 0x1.8p23F + 127);
  const auto shifted = hn::MulAdd(x, hn::Set(d, inverse_ln2), offset);
  const auto power = hn::BitCast(d, hn::ShiftLeft<23>(hn::BitCast(hn::RebindToUnsigned<D>(), shifted)));
  const auto n = hn::Sub(shifted, offset);
  const auto r = hn::NegMulAdd(n, hn::Set(d, rest_of_ln2), hn::NegMulAdd(n, hn::Set(d, 0x1.62E4p-1F), x));
  auto sum = hn::Set(d, static_cast<float>(coefficients[0]));
  for (std::size_t i = 1; i < std::size(coefficients); ++i)
    sum = hn::MulAdd(sum, r, hn::Set(d, static_cast<float>(coefficients[i])));
  return hn::IfThenZeroElse(hn::Lt(x, hn::Set(d, least_argument)), hn::Mul(sum, power));
}
#endif

// e^x of x <= 0; NaN is kept, so that a NaN in the input is one in the output. Highway's Exp gives 0 for it.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Exponential(D d, V x) {
#if HWY_NATIVE_FMA
  if constexpr (sizeof(hn::TFromD<D>) == sizeof(float)) return FusedExponential(d, x);
#endif
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
    const V weight = Exponential(d, hn::Sub(hn::LoadU(d, scores + i), offset));
    hn::StoreU(weight, d, scores + i);
    sums = hn::Add(sums, weight);
  }
  Scalar sum = hn::GetLane(hn::SumOfLanes(d, sums));
  for (std::size_t i = whole; i < count; ++i) {
    scores[i] = hn::GetLane(Exponential(d, hn::Set(d, scores[i] - greatest)));
    sum += scores[i];
  }
  const Scalar factor = hn::GetLane(Exponential(d, hn::Set(d, state.greatest - greatest)));
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
