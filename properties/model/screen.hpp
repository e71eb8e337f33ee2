#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "lib/numeric/ulp.hpp"
#include "properties/engine/judgement.hpp"
#include "properties/model/budget.hpp"

namespace sextant {

/// Says of a value, by its truth and bound in hardware floating point, that judging it would change nothing: it is
/// certainly right and no nearer to its bound than the worst so far, or no worse than a value known to be wrong at the
/// same position or an earlier one (Judgement::is_later). Whatever it does not pass is judged (value_judge.hpp). So
/// calls of millions of values, of which nearly all pass, cost some nanoseconds each. A judgement's worst deviation is
/// the worst of all but for a relative 2^-38, or all are below `least_worst` of their bounds.
///
/// Truths are formed in Real: double, and for float64 elements long double, which must be wider.
class Screen {
 public:
  static constexpr double least_worst = 0x1p-8;

  /// For values at `position` that are added to `judgement`.
  Screen(const ErrorBudget& budget, const Judgement& judgement, std::int64_t position)
      : Screen(budget.dtype(), budget.ulps(), judgement, position) {
    if (budget.accuracy() == AccuracyClass::correctly_rounded || budget.accuracy() == AccuracyClass::faithful)
      must_round_ = !judgement.is_later(position);
    of_norms_ = budget.accuracy() == AccuracyClass::pair_norm;
  }

  /// The same for values that may be `ulps` off, whatever they round to.
  Screen(Dtype dtype, double ulps, const Judgement& judgement, std::int64_t position)
      : ulps_(ulps),
        relative_ulp_(2 * unit_roundoff(dtype)),
        least_ulp_(ulp(dtype, 0)),
        most_ulp_(ulp(dtype, largest_finite(dtype))) {
    if (judgement.finding.empty()) return;
    const double worst = std::max(judgement.deviation.of_bound, least_worst);
    limit_ = (judgement.is_later(position) ? worst : std::min(worst, 1.0)) * (1 - 0x1p-39);
  }

  /// ErrorBudget's bounds, by its formulas, within 2^-40 of them or below: of doubles within 2^-48 of what they stand
  /// for, `angle_error` from ErrorBudget::quick_angle_error, and of pair-norm `scale` exact.
  double component_bound(double norm, double angle_error) const {
    return ulps_ * ulp_below(norm) + std::min(angle_error, 2.0) * norm;
  }
  double element_bound(double truth, double derivative, double scale, double angle_error) const {
    if (of_norms_) return ulps_ * ulp_of(scale) + std::min(angle_error, 2.0) * scale;
    const double effect =
        std::min(std::fabs(derivative) * angle_error + scale * angle_error * angle_error / 2, 2 * scale);
    return ulps_ * ulp_below(std::fabs(truth) + effect) + effect;
  }

  /// Whether judging `value` would change nothing. @param truth  within `slack` of the true value.
  template <class Real>
  bool passes(double value, Real truth, Real slack, double bound) const {
    const Real error = std::fabs(static_cast<Real>(value) - truth) + slack;
    // Not (error > ...), so that a NaN does not pass.
    if (!(error <= static_cast<Real>(bound * limit_))) return false;
    // Nearer than half of the spacing on either side of value: it is what the truth rounds to, but for a zero's sign.
    return !must_round_ || (value != 0 && error < static_cast<Real>(ulp_below(std::fabs(value)) / 2));
  }

 private:
  // ulp(size (1 - 2^-40)): at most that of anything within 2^-41 of size.
  double ulp_below(double size) const { return ulp_of(size * (1 - 0x1p-40)); }

  double ulp_of(double size) const {
    constexpr std::uint64_t exponent_bits = 0x7FF0'0000'0000'0000;
    const auto power = std::bit_cast<double>(std::bit_cast<std::uint64_t>(size) & exponent_bits);
    return std::clamp(power * relative_ulp_, least_ulp_, most_ulp_);
  }

  double ulps_;
  double relative_ulp_;
  double least_ulp_;
  double most_ulp_;
  double limit_ = 0;
  bool must_round_ = false;
  bool of_norms_ = false;  // pair-norm
};

/// The same for a law's own error and bound: whether judging an error of at most `most`, where the bound is at least
/// `least_bound`, would change nothing.
template <class Real>
bool is_no_worse(const Judgement& judgement, Real most, Real least_bound) {
  if (judgement.finding.empty()) return false;
  const bool is_later = judgement.place && judgement.is_later(*judgement.place);
  const double most_worst = is_later ? std::numeric_limits<double>::infinity() : 1;
  const auto worst = static_cast<Real>(std::clamp(judgement.deviation.of_bound, Screen::least_worst, most_worst));
  // Not (most > ...), so that a NaN does not pass.
  return most <= worst * least_bound;
}

/// The norm of a pair as Real has it, within 3 epsilon of itself; NaN where its squares may leave Real's range.
template <class Real>
Real norm_in(double first, double second) {
  constexpr Real least = 0x1p-900;
  constexpr Real most = 0x1p900;
  const Real square =
      static_cast<Real>(first) * static_cast<Real>(first) + static_cast<Real>(second) * static_cast<Real>(second);
  if (first == 0 && second == 0) return 0;
  return square > least && square < most ? std::sqrt(square) : std::numeric_limits<Real>::quiet_NaN();
}

}  // namespace sextant
