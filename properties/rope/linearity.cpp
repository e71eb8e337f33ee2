#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "properties/catalogue.hpp"
#include "properties/model/family.hpp"
#include "properties/model/questions.hpp"
#include "properties/model/screen.hpp"
#include "properties/model/turned_call.hpp"
#include "properties/rope/turned.hpp"
#include "properties/verdict/bound_text.hpp"
#include "reference/rounding.hpp"

namespace sextant {
namespace {

using reference::Certainty;
using reference::Enclosure;
using reference::Precision;

// x with one member of each pair, and x with the other: they add up to it exactly.
Tensor part_of(const Rope& head, const Tensor& x, bool first) {
  Tensor part = Tensor::zeros(x.dtype, x.shape);
  for (std::int64_t start = 0; start < x.elements(); start += head.head_dim) {
    for (std::int64_t pair = 0; pair < pairs(head); ++pair) {
      const Channels channels = channels_of_pair(head, head.pairing, pair);
      const std::int64_t channel = start + (first ? channels.first : channels.second);
      part.set(channel, x.at(channel));
    }
  }
  return part;
}

CheckOf<Question> linearity_check(const Spec& spec) {
  return [spec, rotations = Rotations(spec)](Session& session, const Question& question) {
    const Rope& head = rotations.head();
    TurningOracle& oracle = rotations.oracle();
    const Call call = rotations.call(question);
    const auto turned = [&](Tensor x) {
      Call asked = call;
      asked.vectors = {std::move(x)};
      return rotations.ask(session, asked);
    };
    const Tensor& x = call.vectors[0];
    const Tensor whole = turned(x);
    const Tensor first = turned(part_of(head, x, true));
    const Tensor second = turned(part_of(head, x, false));
    const std::vector<std::int64_t> lengths = rotations.lengths(call);
    Judgement judgement;
    for (std::int64_t start = 0; start < x.elements(); start += head.head_dim) {
      const std::int64_t vector = start / head.head_dim;
      const VectorPlace place = rotations.place(call, vector, lengths);
      for (std::int64_t pair = 0; pair < pairs(head); ++pair) {
        const GivenPair given = pair_in(x, start, channels_of_pair(head, head.pairing, pair));
        if (!oracle.is_representable(place, pair, given.length())) continue;
        const Channels to = channels_of_pair(head, head.output_pairing, pair);
        for (const std::int64_t channel : {to.first, to.second}) {
          const std::int64_t i = start + channel;
          const auto text = [&] { return fmt::format("{}, channel {}", text_of(place, head, vector), channel); };
          if (!std::isfinite(whole.at(i)) || !std::isfinite(first.at(i)) || !std::isfinite(second.at(i))) {
            judgement.add(Certainty::no, not_finite(), [&] { return text() + ": a value is NaN or infinite"; });
            continue;
          }
          if (whole.at(i) == first.at(i) + second.at(i)) {
            judgement.add(Certainty::yes, {}, [] { return "equal to the sum of the parts"; });
            continue;
          }
          // Most values are nearer to the sum than one before: doubles tell. Two subtractions round by 2^-52 of the
          // terms' sum at most. Only what may be the worst so far is asked of the exact tier.
          const double least_bound = 3 * oracle.least_evaluation(place, pair, given.length());
          const double most = std::fabs(whole.at(i) - first.at(i) - second.at(i)) +
                              0x1p-52 * (std::fabs(whole.at(i)) + std::fabs(first.at(i)) + std::fabs(second.at(i)));
          if (is_no_worse(judgement, most, least_bound)) continue;
          Deviation deviation;
          const Certainty within = reference::decide([&](Precision precision) {
            const reference::RealPair real = given.real(precision);
            const Enclosure error = abs(Enclosure(whole.at(i), precision) - Enclosure(first.at(i), precision) -
                                        Enclosure(second.at(i), precision));
            const Enclosure bound = Enclosure(3.0, precision) * oracle.bounds(place, pair, real, precision).evaluation;
            const Enclosure norm = oracle.turned(place, pair, real, precision).norm;
            deviation = deviation_of(error, bound, reference::ulp(spec.dtype, norm).upper());
            return reference::at_most(error, bound);
          });
          judgement.add(within, deviation, [&] {
            return fmt::format("{}: {} of the whole, {} + {} of its parts: {}", text(),
                               value_text(spec.dtype, whole.at(i)), value_text(spec.dtype, first.at(i)),
                               value_text(spec.dtype, second.at(i)), bound_text(deviation.of_bound));
          });
        }
      }
    }
    if (judgement.finding.empty()) judgement.add_exact(std::nullopt, [] { return no_pair_held; });
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
      "rope, rope_nd, xpos",
      "at one position even a wrong angle or scale is the same in all three, so it cancels; what is left is evaluation "
      "and rounding, sqrt(2) k ulp(a ||x_i||) in each (properties/model/budget.hpp; for xpos also xpos_budget.hpp)",
      "values saturated, quantised or normalised on the way, a bias, a pair overwritten while it is read, order of "
      "magnitude lost"};
  property.not_applicable = stated_for<Rope, RopeNd, Xpos>(no_pair_turns);
  use_cases(property, questions(), linearity_check);
  return property;
}

}  // namespace sextant
