#pragma once

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <optional>

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
  double conditioned_ulp = 0;  ///< what errors are told in besides; 0 where they are not
};

/// What a correctly rounded value is where the truth is 0, which has no sign: +0, or either zero, as where terms that
/// are zeros of either sign are added.
enum class ExactZero { positive, either };

/// Judges values of a subject against an accuracy class: the two strictest classes by what the truth rounds to, the
/// others by the bound. The quick target decides nearly all; what it leaves open is asked at rising precision. Rounding
/// keeps the sign (IEEE 754-2019, section 6.3), so that a correctly rounded zero has that of its truth.
class ValueJudge {
 public:
  ValueJudge(const ErrorBudget& budget, ExactZero exact_zero)
      : accuracy_(budget.accuracy()), dtype_(budget.dtype()), exact_zero_(exact_zero) {}

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
    // That of the least number tells nothing.
    if (quick.conditioned_ulp > ulp(dtype_, 0)) deviation.conditioned_ulps = deviation.absolute / quick.conditioned_ulp;
    if (value == 0 && within == Certainty::yes && !may_have_sign(std::signbit(value), quick, at)) {
      within = Certainty::no;
      deviation.of_bound = 1 + std::numeric_limits<double>::epsilon();  // no bound tells zeros apart
    }
    judgement.add(within, deviation,
                  [&] { return fmt::format("{}: {}", place(), comparison_text(dtype_, value, truth, deviation)); });
  }

 private:
  template <class At>
  bool may_have_sign(bool is_negative, const QuickTarget& quick, At at) const {
    if (accuracy_ != AccuracyClass::correctly_rounded) return true;
    if (magnitude(quick.truth).lower > 0) return is_negative == (quick.truth.high < 0);
    std::optional<bool> may;
    reference::decide([&](reference::Precision precision) {
      const reference::Enclosure truth = at(precision).truth;
      if (truth.lower() == 0 && truth.upper() == 0) {
        may = !is_negative || exact_zero_ == ExactZero::either;
      } else if (truth.lower() > 0 || truth.upper() < 0) {
        may = is_negative == (truth.upper() < 0);
      }
      return may ? reference::Certainty::yes : reference::Certainty::unknown;
    });
    return may.value_or(true);
  }

  reference::Certainty quickly(double value, const QuickTarget& quick) const;
  reference::Certainty exactly(double value, const Target& target) const;

  AccuracyClass accuracy_;
  Dtype dtype_;
  ExactZero exact_zero_;
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
    judgement.add(Certainty::no, not_finite(), [&] { return fmt::format("{}: {}", place(), not_finite_text(value)); });
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

/// The same where the quick target decides nearly all.
template <class At, class Place>
void judge_bounded(Judgement& judgement, Dtype dtype, double value, const QuickTarget& quick, At at, Place place) {
  using reference::Certainty;
  const reference::Bounds error = magnitude(reference::DoubleDoubleWithin::exactly(value) - quick.truth);
  const bool is_right = error.upper <= quick.bound.lower;
  if (!std::isfinite(value) || !(quick.bound.lower > 0) || (!is_right && error.lower <= quick.bound.upper))
    return judge_bounded(judgement, dtype, value, at, place);
  const double truth = quick.truth.high;
  const Deviation deviation{error.upper / quick.bound.lower, error.upper, error.upper / ulp(dtype, truth)};
  judgement.add(is_right ? Certainty::yes : Certainty::no, deviation,
                [&] { return fmt::format("{}: {}", place(), comparison_text(dtype, value, truth, deviation)); });
}

}  // namespace sextant
