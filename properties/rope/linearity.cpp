#include <fmt/format.h>

#include <cmath>

#include "lib/numeric/ulp.hpp"
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

// x with one member of each pair, and x with the other: they add up to it exactly.
Tensor part_of(const Rope& encoding, const Tensor& x, bool first) {
  Tensor part = Tensor::zeros(x.dtype, x.shape);
  for (std::int64_t start = 0; start < x.elements(); start += encoding.head_dim) {
    for (std::int64_t pair = 0; pair < pairs(encoding); ++pair) {
      const Channels channels = channels_of_pair(encoding, encoding.pairing, pair);
      const std::int64_t channel = start + (first ? channels.first : channels.second);
      part.set(channel, x.at(channel));
    }
  }
  return part;
}

CheckOf<Question> make_check(const Spec& spec, const Rope& encoding) {
  reference::RopeReference oracle(encoding);
  const ErrorBudget budget(spec.accuracy, spec.dtype, oracle.frequencies(), spec.max_position);
  return [spec, encoding, oracle, budget](Session& session, const Question& question) mutable {
    const gen::Extents extents{.batch = question.batch, .tokens = question.tokens, .heads = question.heads};
    const Tensor x = gen::vectors(encoding, spec.dtype, extents, question.fill + 1);
    const std::vector<std::int64_t> positions = gen::positions(gen::range_of(spec), question.position, extents);
    const Tensor whole = rotate(session, spec, x, positions);
    const Tensor first = rotate(session, spec, part_of(encoding, x, true), positions);
    const Tensor second = rotate(session, spec, part_of(encoding, x, false), positions);
    const double factor_size = std::fabs(oracle.attention_factor(reference::first_precision).upper());
    Judgement judgement;
    for (std::int64_t start = 0; start < x.elements(); start += encoding.head_dim) {
      for (std::int64_t pair = 0; pair < pairs(encoding); ++pair) {
        const Channels from = channels_of_pair(encoding, encoding.pairing, pair);
        const Channels to = channels_of_pair(encoding, encoding.output_pairing, pair);
        for (const std::int64_t channel : {to.first, to.second}) {
          const std::int64_t i = start + channel;
          const auto place = [&] { return fmt::format("vector {}, channel {}", start / encoding.head_dim, channel); };
          if (!std::isfinite(whole.at(i)) || !std::isfinite(first.at(i)) || !std::isfinite(second.at(i))) {
            judgement.add(Certainty::no, not_finite(), [&] { return place() + ": a value is NaN or infinite"; });
            continue;
          }
          if (whole.at(i) == first.at(i) + second.at(i)) {
            judgement.add(Certainty::yes, {}, [] { return "equal to the sum of the parts"; });
            continue;
          }
          // Most values are nearer to the sum than one before: doubles tell. Two subtractions round by 2^-52 of the
          // terms' sum at most; ulp does not fall with its argument. Only what may be the worst so far is asked of the
          // exact tier.
          const double size = factor_size * std::hypot(x.at(start + from.first), x.at(start + from.second));
          const double least_bound =
              3 * 1.4142 * evaluation_ulps(spec.accuracy) * ulp(spec.dtype, size * (1 - 0x1p-40));
          const double most = std::fabs(whole.at(i) - first.at(i) - second.at(i)) +
                              0x1p-52 * (std::fabs(whole.at(i)) + std::fabs(first.at(i)) + std::fabs(second.at(i)));
          if (!judgement.finding.empty() && most <= least_bound && most / least_bound <= judgement.deviation.of_bound)
            continue;
          Deviation deviation;
          const Certainty within = reference::decide([&](Precision precision) {
            const Enclosure& factor = oracle.attention_factor(precision);
            const Enclosure norm = factor * hypot(Enclosure(x.at(start + from.first), precision),
                                                  Enclosure(x.at(start + from.second), precision));
            const Enclosure error = abs(Enclosure(whole.at(i), precision) - Enclosure(first.at(i), precision) -
                                        Enclosure(second.at(i), precision));
            const Enclosure bound = Enclosure(3.0, precision) * budget.norm_bound(norm);
            deviation = deviation_of(error, bound, reference::ulp(spec.dtype, norm).upper());
            return reference::at_most(error, bound);
          });
          judgement.add(within, deviation, [&] {
            return fmt::format("{}: {} of the whole, {} + {} of its parts: {:.3g} times the bound", place(),
                               value_text(spec.dtype, whole.at(i)), value_text(spec.dtype, first.at(i)),
                               value_text(spec.dtype, second.at(i)), deviation.of_bound);
          });
        }
      }
    }
    return judgement;
  };
}

}  // namespace

Property linearity_property() {
  Property property;
  property.id = "linearity";
  property.needs = Needs::live_subject;
  property.explanation = {
      "the rotation of a sum is the sum of the rotations",
      "R(p)(x' + x'') = R(p) x' + R(p) x'', x' holding the first member of each pair of x and x'' the second",
      "Su et al. 2021, section 3.2.2, equation 15: R is a matrix",
      "rope",
      "at one position even a wrong angle is the same in all three, so it cancels; what is left is evaluation and "
      "rounding, "
      "sqrt(2) k ulp(a ||x_i||) in each (properties/model/budget.hpp)",
      "values saturated, quantised or normalised on the way, a bias, a pair overwritten while it is read, order of "
      "magnitude lost"};
  property.not_applicable = stated_for<Rope>();
  use_cases(property, questions(), of<Rope>(make_check));
  return property;
}

}  // namespace sextant
