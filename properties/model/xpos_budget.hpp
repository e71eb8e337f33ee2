#pragma once

#include <cstdint>

#include "lib/numeric/dtype.hpp"
#include "lib/spec/spec.hpp"
#include "properties/model/budget.hpp"
#include "reference/rope.hpp"
#include "reference/xpos.hpp"

namespace sextant {

/// xPos's pairs with what an implementation may be off by. xPos multiplies the rotated pair by s = zeta^e, e = (p -
/// c)/scale_base, whose numerator is a whole number that positions are told by. In arithmetic of roundoff u, zeta is a
/// sum and a quotient of three rounded terms (4 u), e a quotient (1 u), and pow is within L ULP (2 L u): with |ln s| =
/// |e ln zeta|, s is off by a relative 4 u |e| + u |ln s| + 2 L u, before it is rounded to the evaluation's format and
/// multiplied, which k (RoundedFactor) has:
///
///   r = (2 L + 4 |e| + |ln s|) u / (1 - ...)                                  (Higham 2002, lemma 3.1),
///
/// or any number where (...) u is 1/2 and more,
///
/// and where s is below the normal numbers by the dtype's least subnormal t besides. So the bounds are rope's
/// (budget.hpp) for a pair of norm N = s ||x||, and r N + t ||x||. An object belongs to one thread.
class XposBudget {
 public:
  XposBudget(const Xpos& encoding, const ArithmeticClaim& claim, std::int64_t max_position);

  struct Pair {
    reference::RealPair value;
    reference::Enclosure scale;
    reference::Enclosure norm;
    reference::Enclosure component_bound;  ///< on each component's error
    reference::Enclosure pair_bound;       ///< on the error's Euclidean length
    reference::Enclosure own_bound;        ///< the same by frequencies of the implementation's own
    reference::Enclosure norm_bound;       ///< on the norm's error, which no error of the angle touches
    /// On what is no linear map of the pair: evaluation and rounding, as rope's at the largest norm that s' may lead
    /// to, N' = (1 + r) N.
    reference::Enclosure evaluation_bound;
    /// Whether s and N are certainly below half the dtype's largest value. Beyond, infinities and their differences,
    /// NaN, are as right as anything.
    bool representable;
  };

  /// A position in a call of `length`, which a centre of half the call looks at.
  struct Place {
    std::int64_t position;
    std::int64_t length;
  };

  /// Pair `pair` of a vector at `place`, `x` what is rotated.
  Pair at(const Place& place, std::int64_t pair, const reference::RealPair& x, reference::Precision precision);

  /// What the exponent counts there: the position less the centre.
  std::int64_t counted(const Place& place) const { return oracle_.counted(place.position, place.length); }

  /// The budget of the rotation, without the scale.
  const ErrorBudget& of_rotations() const { return budget_; }

  /// r where the exponent counts `count`, within 2^-48 of itself, from ln s; NaN where doubles cannot tell which of its
  /// two cases it is.
  double quick_scale_error(std::int64_t count, double log_scale) const;

  /// t, and half the dtype's largest value.
  double least_scale_error() const;
  double limit() const;

  const Xpos& encoding() const { return oracle_.encoding(); }

 private:
  reference::XposReference oracle_;
  ErrorBudget budget_;
  ErrorBudget own_;
  Dtype dtype_;
  double roundoff_;
  double of_power_;  // roundoffs of pow: 2 L
};

/// Whether a vector of elements below 16, which gen/values.hpp draws, is representable at every position of the claim
/// in either role.
bool is_representable(const Xpos& encoding, const Spec& claim);

}  // namespace sextant
