#include "properties/model/value_judge.hpp"

namespace sextant {

using reference::Certainty;

Certainty ValueJudge::quickly(double value, const QuickTarget& quick) const {
  // Without a bound there is no deviation to tell either.
  if (!(quick.bound.lower > 0)) return Certainty::unknown;
  if (accuracy_ != AccuracyClass::correctly_rounded && accuracy_ != AccuracyClass::faithful) {
    const reference::Bounds error = magnitude(reference::DoubleDoubleWithin::exactly(value) - quick.truth);
    if (error.upper <= quick.bound.lower) return Certainty::yes;
    return error.lower > quick.bound.upper ? Certainty::no : Certainty::unknown;
  }
  const auto nearest = reference::correctly_rounded(dtype_, quick.truth.high, quick.truth.low, quick.truth.error);
  if (!nearest) return Certainty::unknown;
  if (*nearest == value) return Certainty::yes;
  return accuracy_ == AccuracyClass::correctly_rounded ? Certainty::no : Certainty::unknown;
}

Certainty ValueJudge::exactly(double value, const Target& target) const {
  if (accuracy_ == AccuracyClass::correctly_rounded)
    return reference::is_correctly_rounded(dtype_, value, target.truth);
  if (accuracy_ == AccuracyClass::faithful) return reference::is_faithful(dtype_, value, target.truth);
  return reference::at_most(reference::absolute_error(value, target.truth), target.bound);
}

}  // namespace sextant
