#pragma once

#include <optional>
#include <stdexcept>

#include "lib/numeric/dtype.hpp"
#include "reference/enclosure.hpp"

namespace sextant::reference {

/// ulp(t) of the real number in `truth` (lib/numeric/ulp.hpp), as an interval: a point unless the enclosure reaches
/// over a binade border.
Enclosure ulp(Dtype dtype, const Enclosure& truth);

/// The value of the format nearest to the real number in `truth`, ties to even (IEEE 754-2019, 4.3.1), or nothing while
/// the enclosure's ends round apart.
std::optional<double> correctly_rounded(Dtype dtype, const Enclosure& truth);

/// The value of the format nearest to the real number that `at(Precision)` encloses, the precision raised until it is
/// told.
/// @throws std::domain_error if it is not at the last precision.
template <class At>
double nearest(Dtype dtype, At at) {
  for (Precision precision = first_precision; precision.bits <= last_precision.bits; precision.bits *= 2) {
    if (const auto value = correctly_rounded(dtype, at(precision))) return *value;
  }
  throw std::domain_error("nearest: a value stays undecided at the last precision");
}

}  // namespace sextant::reference
