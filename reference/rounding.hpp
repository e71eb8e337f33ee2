#pragma once

#include <optional>

#include "lib/numeric/dtype.hpp"
#include "reference/enclosure.hpp"

namespace sextant::reference {

/// ulp(t) of the real number in `truth` (lib/numeric/ulp.hpp), as an interval: a point unless the enclosure reaches
/// over a binade border.
Enclosure ulp(Dtype dtype, const Enclosure& truth);

/// The value of the format nearest to the real number in `truth`, ties to even (IEEE 754-2019, 4.3.1), or nothing while
/// the enclosure's ends round apart.
std::optional<double> correctly_rounded(Dtype dtype, const Enclosure& truth);

}  // namespace sextant::reference
