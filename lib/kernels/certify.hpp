#pragma once

#include <optional>

#include "lib/numeric/dtype.hpp"

namespace sextant {

/// The value of `dtype` that every real within `error` of high + low rounds to, ties to even, overflow to infinity;
/// nothing if they do not all round alike, a tie may be among them, or the interval reaches zero. For the lanes that
/// certify-inl.h leaves open. Domain: high + low normal (|low| at most half a unit in the last place of high) and
/// finite, error > 0.
std::optional<double> round_interval(Dtype dtype, double high, double low, double error);

}  // namespace sextant
