#pragma once

#include <fmt/format.h>

#include <cmath>

#include "lib/numeric/ulp.hpp"
#include "properties/engine/judgement.hpp"
#include "properties/model/budget.hpp"
#include "reference/measures.hpp"
#include "reference/rounding.hpp"
#include "reference/wide_value.hpp"

namespace sextant {

/// A real number with the bound that the claim puts on an implementation's error there.
struct Target {
  reference::Enclosure truth;
  reference::Enclosure bound;
};

/// The same from the fast tier, at a hundredth of the cost.
struct QuickTarget {
  reference::DoubleDoubleWithin truth;
  reference::Bounds bound;
};

/// Judges values of a subject against an accuracy class: the two strictest classes by what the truth rounds to, the
/// others by the bound. The quick target decides nearly all; what it leaves open is asked at rising precision.
class ValueJudge {
 public:
  explicit ValueJudge(const ErrorBudget& budget) : accuracy_(budget.accuracy()), dtype_(budget.dtype()) {}

  /// Adds the verdict on one value to `judgement`. `at(Precision)` makes the exact Target, `place()` says where the
  /// value stands if that is told.
  template <class At, class Place>
  void judge(Judgement& judgement, double value, const QuickTarget& quick, At at, Place place) const {
    using reference::Certainty;
    if (!std::isfinite(value)) {
      judgement.add(Certainty::no, not_finite(),
                    [&] { return fmt::format("{}: got {}, true value {:.12g}", place(), value, quick.truth.high); });
      return;
    }
    Certainty within = quickly(value, quick);
    double truth = quick.truth.high;
    Deviation deviation;
    if (within != Certainty::unknown) {
      const double size = magnitude(reference::DoubleDoubleWithin::exactly(value) - quick.truth).upper;
      deviation = {size == 0 ? 0 : size / quick.bound.lower, size, size / ulp(dtype_, truth)};
    } else {
      within = reference::decide([&](reference::Precision precision) {
        const Target target = at(precision);
        truth = target.truth.upper();
        deviation = deviation_of(reference::absolute_error(value, target.truth), target.bound, ulp(dtype_, truth));
        return exactly(value, target);
      });
    }
    judgement.add(within, deviation,
                  [&] { return fmt::format("{}: {}", place(), comparison_text(dtype_, value, truth, deviation)); });
  }

 private:
  reference::Certainty quickly(double value, const QuickTarget& quick) const;
  reference::Certainty exactly(double value, const Target& target) const;

  AccuracyClass accuracy_;
  Dtype dtype_;
};

/// A target of the exact tier alone, with the size whose ULP errors are told in.
struct SizedTarget {
  reference::Enclosure truth;
  reference::Enclosure bound;
  reference::Enclosure size;
};

/// Adds the verdict on one value whose bound the exact tier has: `at(Precision)` makes the SizedTarget.
template <class At, class Place>
void judge_bounded(Judgement& judgement, Dtype dtype, double value, At at, Place place) {
  using reference::Certainty;
  if (!std::isfinite(value)) {
    judgement.add(Certainty::no, not_finite(), [&] { return place() + ": NaN or infinite"; });
    return;
  }
  Deviation deviation;
  double truth = 0;
  const Certainty within = reference::decide([&](reference::Precision precision) {
    const SizedTarget target = at(precision);
    const reference::Enclosure error = reference::absolute_error(value, target.truth);
    truth = target.truth.upper();
    deviation = deviation_of(error, target.bound, reference::ulp(dtype, target.size).upper());
    return reference::at_most(error, target.bound);
  });
  judgement.add(within, deviation,
                [&] { return fmt::format("{}: {}", place(), comparison_text(dtype, value, truth, deviation)); });
}

}  // namespace sextant
