#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "properties/catalogue.hpp"
#include "properties/model/answers.hpp"
#include "properties/model/family.hpp"
#include "properties/model/rotation_judge.hpp"
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

// Whether a pair's norm is so near to what it must be that judging it would change nothing: doubles tell, or long
// doubles for float64. A norm is within 3 epsilon of itself, and so is what it must be.
template <class Real>
bool passes(const Judgement& judgement, const GivenPair& given, const GivenPair& got, long double stretch,
            double least_bound) {
  const Real norm = static_cast<Real>(stretch) * norm_in<Real>(given.first, given.second);
  const Real turned = norm_in<Real>(got.first, got.second);
  return is_no_worse(judgement, std::fabs(turned - norm) + 4 * std::numeric_limits<Real>::epsilon() * (turned + norm),
                     static_cast<Real>(least_bound));
}

AnswerCheck isometry_check(const Spec& spec) {
  return [spec, rotations = Rotations(spec)](const Call& call, const Tensor& y) {
    const Rope& head = rotations.head();
    TurningOracle& oracle = rotations.oracle();
    const Tensor& x = call.vectors[0];
    Judgement judgement;
    const std::vector<std::int64_t> lengths = rotations.lengths(call);
    VectorPlace place;
    std::vector<double> before_turn(static_cast<std::size_t>(head.head_dim));
    std::vector<double> after_turn(before_turn.size());
    for (std::int64_t start = 0; start < x.elements(); start += head.head_dim) {
      const std::int64_t vector = start / head.head_dim;
      if (vector % x.shape[2] == 0) {
        place = rotations.place(call, vector, lengths);
      } else if (is_repeated(x, vector, head.head_dim) && is_repeated(y, vector, head.head_dim)) {
        continue;
      }
      judgement.place = std::ranges::max(place.coordinates);
      x.read(start, before_turn);
      y.read(start, after_turn);
      for (std::int64_t pair = 0; pair < std::ssize(rotations.channels()); ++pair) {
        const auto& [from, to] = rotations.channels()[static_cast<std::size_t>(pair)];
        const GivenPair given = pair_in(before_turn, from);
        const GivenPair got = pair_in(after_turn, to);
        const double size = given.length();
        if (!oracle.is_representable(place, pair, size)) continue;
        judgement.coordinate = oracle.coordinate(place, pair);
        const auto text = [&] { return fmt::format("{}, pair {}", text_of(place, head, vector), pair); };
        if (!got.finite()) {
          judgement.add(Certainty::no, not_finite(), [&] { return text() + ": a value is NaN or infinite"; });
          continue;
        }
        const long double stretch = oracle.stretch(place, pair);
        const double least_bound = oracle.least_norm_bound(place, pair, size);
        if (spec.dtype == Dtype::float64 ? passes<long double>(judgement, given, got, stretch, least_bound)
                                         : passes<double>(judgement, given, got, stretch, least_bound))
          continue;
        Deviation deviation;
        double before = 0;
        double after = 0;
        const Certainty within = reference::decide([&](Precision precision) {
          const reference::RealPair real = given.real(precision);
          const Enclosure norm = oracle.turned(place, pair, real, precision).norm;
          const Enclosure turned = length_of(got.real(precision));
          const Enclosure error = abs(turned - norm);
          before = std::fabs(norm.upper());
          after = turned.upper();
          const Enclosure bound = oracle.bounds(place, pair, real, precision).norm;
          deviation = deviation_of(error, bound, reference::ulp(spec.dtype, norm).upper());
          return reference::at_most(error, bound);
        });
        judgement.add(within, deviation, [&] {
          return fmt::format("{}: norm {:.9g}, should be {:.9g}: {:.3g} ULP, {}", text(), after, before, deviation.ulps,
                             bound_text(deviation.of_bound));
        });
      }
    }
    if (judgement.finding.empty()) judgement.add_exact(std::nullopt, [] { return no_pair_held; });
    return judgement;
  };
}

}  // namespace

Property isometry_property() {
  Property property;
  property.id = "isometry";
  property.explanation = {
      "a rotation keeps the length of every pair, but for the attention factor",
      "||(a R(p w_i) x)_i|| = a ||x_i|| for every pair i and position p, a the attention factor of rope_scaling (1 "
      "without) or xpos's power",
      "Su et al. 2021, section 3.2.2, equation 15: R is orthogonal",
      "rope, rope_nd, xpos",
      "an error of the angle does not touch the norm; each component is within k ulp(a ||x_i||) of a vector "
      "of that length (properties/model/budget.hpp), so the norm is within sqrt(2) k ulp(a ||x_i||); of xpos also what "
      "its power errs by (xpos_budget.hpp)",
      "a table of one pairing applied with the other's rotation, sine and cosine of different angles, "
      "narrow tables, range reduction that leaves [-1, 1], an attention factor left out or applied twice"};
  property.not_applicable =
      stated_for<Rope, RopeNd, Xpos>(no_pair_turns, elsewhere_for<Sinusoidal>("a property of rotations"));
  judge_answers(property, isometry_check);
  return property;
}

}  // namespace sextant
