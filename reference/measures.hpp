#pragma once

#include "lib/numeric/dtype.hpp"
#include "reference/enclosure.hpp"

namespace sextant::reference {

// How far a computed value v is from the real number t that an enclosure holds, in each of the units that a report
// speaks of. Each result encloses the real measure; all are undefined (NaN) for a NaN, infinite for an infinite value.

/// |v - t|.
Enclosure absolute_error(double value, const Enclosure& truth);

/// |v - t| / ulp(t): raw ULPs of the true value (lib/numeric/ulp.hpp), which explode near a zero of t.
Enclosure ulp_error(Dtype dtype, double value, const Enclosure& truth);

/// Where a value comes from: an angle of the format whose unit roundoff is `roundoff`, and the derivative of the value
/// by that angle.
struct Conditioning {
  Enclosure angle;
  Enclosure derivative;
  double roundoff;
};

/// |v - t| / (ulp(t) + |angle| roundoff |derivative|): ULPs with the change that half a last place of the angle makes
/// counted as one more, so that an evaluation as good as its rounded angle allows has a conditioned error of about 1
/// even at a zero of t.
Enclosure conditioned_ulp_error(Dtype dtype, double value, const Enclosure& truth, const Conditioning& conditioning);

/// |v - t| / ulp(norm): ULPs of the norm of the pair that t is a component of, the measure of a rotation.
Enclosure normwise_ulp_error(Dtype dtype, double value, const Enclosure& truth, const Enclosure& norm);

/// Whether v is the value of the dtype nearest to t, ties to even; `unknown` while the enclosure leaves it open. +0 and
/// -0 are the same.
Certainty is_correctly_rounded(Dtype dtype, double value, const Enclosure& truth);

/// Whether no value of the dtype lies strictly between v and t, v being one of the dtype: v is t, or one of t's two
/// neighbours.
Certainty is_faithful(Dtype dtype, double value, const Enclosure& truth);

}  // namespace sextant::reference
