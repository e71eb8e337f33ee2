#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "properties/catalogue.hpp"
#include "properties/model/family.hpp"
#include "properties/model/questions.hpp"
#include "properties/model/screen.hpp"
#include "properties/model/turned_call.hpp"
#include "properties/verdict/bound_text.hpp"
#include "reference/rounding.hpp"
#include "subjects/operations.hpp"

namespace sextant {
namespace {

using reference::Certainty;
using reference::Enclosure;
using reference::Precision;

Enclosure dot(const GivenPair& a, const GivenPair& b, Precision precision) {
  return Enclosure(a.first, precision) * Enclosure(b.first, precision) +
         Enclosure(a.second, precision) * Enclosure(b.second, precision);
}

// A pair as it was given and turned, and its gradient as it was asked with and returned.
struct Turned {
  GivenPair given;
  GivenPair turned;
  GivenPair wanted;
  GivenPair returned;
};

// At least |<y, g> - <x, r>| in double: products, sums and their difference round three times at most, 2^-53 of the
// terms' sum each. NaN where a product may have underflowed.
double error_upper(const Turned& pair) {
  const double left[]{pair.turned.first * pair.wanted.first, pair.turned.second * pair.wanted.second};
  const double right[]{pair.given.first * pair.returned.first, pair.given.second * pair.returned.second};
  const double sum = std::fabs(left[0]) + std::fabs(left[1]) + std::fabs(right[0]) + std::fabs(right[1]);
  const bool vanished = pair.turned.length() == 0 && pair.returned.length() == 0;
  if (sum < 0x1p-900 && !vanished) return std::numeric_limits<double>::quiet_NaN();
  return std::fabs((left[0] + left[1]) - (right[0] + right[1])) + 0x1p-51 * sum;
}

void judge_pair(Judgement& judgement, TurningOracle& oracle, Dtype dtype, const Rope& head, const VectorPlace& place,
                std::int64_t vector, std::int64_t number, const Turned& pair) {
  const auto text = [&] { return fmt::format("{}, pair {}", text_of(place, head, vector), number); };
  if (!pair.turned.finite() || !pair.returned.finite()) {
    judgement.add(Certainty::no, not_finite(), [&] { return text() + ": a value is NaN or infinite"; });
    return;
  }
  // Most pairs are nearer to their truth than one before: doubles tell. Only what may be the worst so far is asked of
  // the exact tier.
  const double x_size = pair.given.length();
  const double g_size = pair.wanted.length();
  const double least_bound =
      (oracle.least_bound(place, number, x_size) * g_size + oracle.least_bound(place, number, g_size) * x_size) *
      (1 - 0x1p-40);
  const double most = error_upper(pair);
  if (is_no_worse(judgement, most, least_bound)) return;
  Deviation deviation;
  double forward = 0;
  double adjoint = 0;
  const Certainty within = reference::decide([&](Precision precision) {
    // y and the gradient are each within the pair's bound B of their exact values: |<y - Rx, g>| <= B(x) ||g||, and
    // likewise.
    const reference::RealPair x = pair.given.real(precision);
    const reference::RealPair g = pair.wanted.real(precision);
    const Enclosure bound = oracle.turned(place, number, x, precision).bound * length_of(g) +
                            oracle.turned(place, number, g, precision).bound * length_of(x);
    const Enclosure left = dot(pair.turned, pair.wanted, precision);
    const Enclosure right = dot(pair.given, pair.returned, precision);
    const Enclosure error = abs(left - right);
    forward = left.upper();
    adjoint = right.upper();
    deviation = deviation_of(error, bound, reference::ulp(dtype, left).upper());
    return reference::at_most(error, bound);
  });
  judgement.add(within, deviation, [&] {
    return fmt::format("{}: <R x, g> = {:.9g}, <x, R* g> = {:.9g}: {}", text(), forward, adjoint,
                       bound_text(deviation.of_bound));
  });
}

CheckOf<Question> adjoint_check(const Spec& spec) {
  return [spec, rotations = Rotations(spec)](Session& session, Question question) {
    const Rope& head = rotations.head();
    TurningOracle& oracle = rotations.oracle();
    const Call call = rotations.call(question);
    ++question.fill;
    const Tensor& x = call.vectors[0];
    const Tensor grad = rotations.call(question).vectors[0];
    const Tensor y = rotations.ask(session, call);
    const Tensor back = rotate_backward(session, spec, x, call.positions, grad);
    const std::vector<std::int64_t> lengths = rotations.lengths(call);
    Judgement judgement;
    for (std::int64_t start = 0; start < x.elements(); start += head.head_dim) {
      const std::int64_t vector = start / head.head_dim;
      const VectorPlace place = rotations.place(call, vector, lengths);
      for (std::int64_t pair = 0; pair < pairs(head); ++pair) {
        const Channels in = channels_of_pair(head, head.pairing, pair);
        const Channels out = channels_of_pair(head, head.output_pairing, pair);
        const Turned asked{pair_in(x, start, in), pair_in(y, start, out), pair_in(grad, start, out),
                           pair_in(back, start, in)};
        if (!oracle.is_representable(place, pair, std::max(asked.given.length(), asked.wanted.length()))) continue;
        judge_pair(judgement, oracle, spec.dtype, head, place, vector, pair, asked);
      }
      for (const Passthrough& untouched : passthrough_channels(head)) {
        const double wanted = grad.at(start + untouched.output);
        const double returned = back.at(start + untouched.input);
        judgement.add_exact(wanted == returned ? std::nullopt
                                               : std::optional(fmt::format(
                                                     "{}, channel {}, not rotated: gradient {} became {}",
                                                     text_of(place, head, vector), untouched.input,
                                                     value_text(spec.dtype, wanted), value_text(spec.dtype, returned))),
                            [] { return "the gradient of a channel that is not rotated, unchanged"; });
      }
    }
    if (judgement.finding.empty()) judgement.add_exact(std::nullopt, [] { return no_pair_held; });
    return judgement;
  };
}

}  // namespace

Property adjoint_property() {
  Property property;
  property.id = "adjoint";
  property.needs = Needs::live_subject;
  property.explanation = {
      "the gradient is the transposed rotation",
      "<R(p) x, g> = <x, R(p)* g> for every pair, R(p)* g being what backward returns; both scaled by the attention "
      "factor, or by xpos's power",
      "Su et al. 2021, section 3.2.2, equation 15: the derivative of R x by x is R, so the gradient is R transposed",
      "rope, rope_nd and xpos whose subject answers backward",
      "|<R x, g> - <x, R* g>| <= B(a ||x||) ||g|| + B(a ||g||) ||x||, B the pair bound of properties/model/budget.hpp "
      "(for xpos also xpos_budget.hpp); "
      "channels not rotated pass their gradient on unchanged",
      "a gradient that is zero, turned the same way as the forward pass, or ignores scaling, pairing or the attention "
      "factor"};
  property.not_applicable = stated_for<Rope, RopeNd, Xpos>();
  use_cases(property, questions(), adjoint_check);
  return property;
}

}  // namespace sextant
