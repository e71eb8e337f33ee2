#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "properties/catalogue.hpp"
#include "properties/gen/vectors.hpp"
#include "properties/model/budget.hpp"
#include "properties/model/family.hpp"
#include "properties/model/questions.hpp"
#include "reference/rope.hpp"
#include "reference/rounding.hpp"
#include "subjects/operations.hpp"

namespace sextant {
namespace {

using reference::Certainty;
using reference::Enclosure;
using reference::Precision;

struct Pair {
  double first;
  double second;

  bool finite() const { return std::isfinite(first) && std::isfinite(second); }
};

Pair pair_of(const Tensor& tensor, std::int64_t start, const Channels& channels) {
  return {tensor.at(start + channels.first), tensor.at(start + channels.second)};
}

Enclosure dot(const Pair& a, const Pair& b, Precision precision) {
  return Enclosure(a.first, precision) * Enclosure(b.first, precision) +
         Enclosure(a.second, precision) * Enclosure(b.second, precision);
}

Enclosure norm(const Pair& a, Precision precision) {
  return hypot(Enclosure(a.first, precision), Enclosure(a.second, precision));
}

// At least |<y, g> - <x, r>| in double: products, sums and their difference round three times at most, 2^-53 of the
// terms' sum each.
double error_upper(const Pair& turned, const Pair& wanted, const Pair& given, const Pair& returned) {
  const double left[]{turned.first * wanted.first, turned.second * wanted.second};
  const double right[]{given.first * returned.first, given.second * returned.second};
  const double sum = std::fabs(left[0]) + std::fabs(left[1]) + std::fabs(right[0]) + std::fabs(right[1]);
  return std::fabs((left[0] + left[1]) - (right[0] + right[1])) + 0x1p-51 * sum;
}

CheckOf<Question> make_check(const Spec& spec, const Rope& encoding) {
  reference::RopeReference oracle(encoding);
  const ErrorBudget budget(spec.accuracy, spec.dtype, oracle.frequencies(), spec.max_position);
  return [spec, encoding, oracle, budget](Session& session, const Question& question) mutable {
    const gen::Extents extents{.batch = question.batch, .tokens = question.tokens, .heads = question.heads};
    const Tensor x = gen::vectors(encoding, spec.dtype, extents, 2 * question.fill + 1);
    const Tensor grad = gen::vectors(encoding, spec.dtype, extents, 2 * question.fill + 2);
    const std::vector<std::int64_t> positions = gen::positions(gen::range_of(spec), question.position, extents);
    const std::int64_t length = reference::sequence_length(positions);
    const double factor_size = std::fabs(oracle.attention_factor(reference::first_precision).upper());
    std::vector<double> frequencies;
    for (std::int64_t pair = 0; pair < pairs(encoding); ++pair)
      frequencies.push_back(oracle.angle(1, pair, length, reference::first_precision).upper());
    const Tensor y = rotate(session, spec, x, positions);
    const Tensor back =
        backward(session, spec, "rotate",
                 {{"x", x}, {"positions", Tensor::of_integers({question.batch, question.tokens}, positions)}}, grad);
    Judgement judgement;
    for (std::int64_t start = 0; start < x.elements(); start += encoding.head_dim) {
      const std::int64_t position = positions[static_cast<std::size_t>(start / encoding.head_dim / question.heads)];
      for (std::int64_t pair = 0; pair < pairs(encoding); ++pair) {
        const Channels in = channels_of_pair(encoding, encoding.pairing, pair);
        const Channels out = channels_of_pair(encoding, encoding.output_pairing, pair);
        const Pair given = pair_of(x, start, in);
        const Pair turned = pair_of(y, start, out);
        const Pair wanted = pair_of(grad, start, out);
        const Pair returned = pair_of(back, start, in);
        const auto place = [&] {
          return fmt::format("position {}, vector {}, pair {}", position, start / encoding.head_dim, pair);
        };
        if (!turned.finite() || !returned.finite()) {
          judgement.add(Certainty::no, not_finite(), [&] { return place() + ": a value is NaN or infinite"; });
          continue;
        }
        // Most pairs are nearer to their truth than one before: doubles tell, since component_bound is below
        // pair_bound. Only what may be the worst so far is asked of the exact tier.
        const double angle_size = frequencies[static_cast<std::size_t>(pair)] * static_cast<double>(position);
        const double x_size = std::hypot(given.first, given.second);
        const double g_size = std::hypot(wanted.first, wanted.second);
        const double least_bound = (budget.component_bound(factor_size * x_size, angle_size, pair).lower * g_size +
                                    budget.component_bound(factor_size * g_size, angle_size, pair).lower * x_size) *
                                   (1 - 0x1p-40);
        const double most = error_upper(turned, wanted, given, returned);
        if (!judgement.finding.empty() && most <= least_bound && most / least_bound <= judgement.deviation.of_bound)
          continue;
        Deviation deviation;
        double forward = 0;
        double adjoint = 0;
        const Certainty within = reference::decide([&](Precision precision) {
          // y and the gradient are each within pair_bound of their exact values: |<y - Rx, g>| <= B(f ||x||) ||g||, and
          // likewise.
          const Enclosure angle = oracle.angle(position, pair, length, precision);
          const Enclosure& factor = oracle.attention_factor(precision);
          const Enclosure bound =
              budget.pair_bound(factor * norm(given, precision), angle, pair) * norm(wanted, precision) +
              budget.pair_bound(factor * norm(wanted, precision), angle, pair) * norm(given, precision);
          const Enclosure left = dot(turned, wanted, precision);
          const Enclosure right = dot(given, returned, precision);
          const Enclosure error = abs(left - right);
          forward = left.upper();
          adjoint = right.upper();
          deviation = deviation_of(error, bound, reference::ulp(spec.dtype, left).upper());
          return reference::at_most(error, bound);
        });
        judgement.add(within, deviation, [&] {
          return fmt::format("{}: <R x, g> = {:.9g}, <x, R* g> = {:.9g}: {:.3g} times the bound", place(), forward,
                             adjoint, deviation.of_bound);
        });
      }
      for (const Passthrough& untouched : passthrough_channels(encoding)) {
        const double wanted = grad.at(start + untouched.output);
        const double returned = back.at(start + untouched.input);
        judgement.add_exact(wanted == returned ? std::nullopt
                                               : std::optional(fmt::format(
                                                     "position {}, channel {}, not rotated: gradient {} became {}",
                                                     position, untouched.input, wanted, returned)),
                            [] { return "the gradient of a channel that is not rotated, unchanged"; });
      }
    }
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
      "factor",
      "Su et al. 2021, section 3.2.2, equation 15: the derivative of R x by x is R, so the gradient is R transposed",
      "rope whose subject answers backward",
      "|<R x, g> - <x, R* g>| <= B(a ||x||) ||g|| + B(a ||g||) ||x||, B the pair bound of properties/model/budget.hpp; "
      "channels not rotated pass their gradient on unchanged",
      "a gradient that is zero, turned the same way as the forward pass, or ignores scaling, pairing or the attention "
      "factor"};
  property.not_applicable = stated_for<Rope>();
  use_cases(property, questions(), of<Rope>(make_check));
  return property;
}

}  // namespace sextant
