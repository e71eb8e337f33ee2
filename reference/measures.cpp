#include "reference/measures.hpp"

#include "lib/numeric/ulp.hpp"
#include "reference/rounding.hpp"

namespace sextant::reference {

Enclosure absolute_error(double value, const Enclosure& truth) {
  return abs(Enclosure(value, truth.precision()) - truth);
}

Enclosure ulp_error(Dtype dtype, double value, const Enclosure& truth) {
  return absolute_error(value, truth) / ulp(dtype, truth);
}

Enclosure conditioned_ulp_error(Dtype dtype, double value, const Enclosure& truth, const Conditioning& conditioning) {
  const Enclosure roundoff(conditioning.roundoff, truth.precision());
  return absolute_error(value, truth) /
         (ulp(dtype, truth) + abs(conditioning.angle) * roundoff * abs(conditioning.derivative));
}

Enclosure normwise_ulp_error(Dtype dtype, double value, const Enclosure& truth, const Enclosure& norm) {
  return absolute_error(value, truth) / ulp(dtype, norm);
}

Certainty is_correctly_rounded(Dtype dtype, double value, const Enclosure& truth) {
  const auto nearest = correctly_rounded(dtype, truth);
  if (!nearest) return Certainty::unknown;
  return *nearest == value ? Certainty::yes : Certainty::no;
}

Certainty is_faithful(Dtype dtype, double value, const Enclosure& truth) {
  const Enclosure below(next_below(dtype, value), truth.precision());
  const Enclosure above(next_above(dtype, value), truth.precision());
  if (certainly_above(truth, below) && certainly_above(above, truth)) return Certainty::yes;
  return certainly_at_most(truth, below) || certainly_at_most(above, truth) ? Certainty::no : Certainty::unknown;
}

}  // namespace sextant::reference
