#pragma once

#include <boost/multiprecision/cpp_int.hpp>
#include <cstdint>
#include <vector>

#include "lib/spec/count_unit.hpp"

namespace sextant {

// Frequencies and phases as fixed-point turns. A turn is a whole rotation, so position * frequency mod 1 turn is a
// wrapping integer product: there is no range reduction, and the error does not grow beyond that of the one constant.

/// An angle modulo one turn, in units of 2^-192 turn; arithmetic wraps at a whole turn.
using Turns = boost::multiprecision::number<boost::multiprecision::cpp_int_backend<
    192, 192, boost::multiprecision::unsigned_magnitude, boost::multiprecision::unchecked, void>>;

/// sin and cos of one angle.
struct SinCos {
  double sin;
  double cos;
};

/// The geometric frequencies base^(-i * numerator / denominator) radians per position, i = 0 .. count-1 (Vaswani et al.
/// 2017, section 3.5, with numerator/denominator = 2/dim; Su et al. 2021, section 3.2.2), or of `unit` in place of a
/// radian, times `factor`, as turns per position modulo one turn. Each is within one unit of 2^-192 turn. Domain:
/// base >= 1 and finite, denominator > 0 unless count <= 1, unit.whole + unit.part from 1/8 on, neither part negative,
/// 0 < factor <= 2^20. @throws std::invalid_argument outside of it.
std::vector<Turns> geometric_turns(double base, std::int64_t numerator, std::int64_t denominator, std::int64_t count,
                                   const CountUnit& unit = {}, double factor = 1);

/// The phase frequency * position mod 1 turn, within |position| * 2^-192 turn. Any position.
Turns phase_at(const Turns& frequency, std::int64_t position);

/// sin and cos of a phase, each within 2 ULP of float64: the C library's sin and cos, which assumed_bounds_test.cpp
/// holds to 1 ULP up to pi/4, and one rounding, where the result may be in the binade below.
SinCos sin_cos(const Turns& phase);

}  // namespace sextant
