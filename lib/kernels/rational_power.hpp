#pragma once

#include <cstdint>
#include <optional>

namespace sextant {

/// base^(numerator/denominator) where it is rational, which is then a double; else nothing. Domain: base >= 1 and
/// finite, 0 <= numerator <= denominator, 0 < denominator.
std::optional<double> rational_power(double base, std::int64_t numerator, std::int64_t denominator);

}  // namespace sextant
