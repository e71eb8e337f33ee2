#pragma once

#include <boost/math/constants/constants.hpp>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cstdint>
#include <limits>

// Arithmetic of a fixed but arbitrary precision, by cpp_bin_float: for constants, and for the rare value that double-double leaves open. It is
// slow, and it is asked for once in 2^25 values or less.

namespace sextant {

/// A floating-point number of `bits` bits, with exponents beyond those of any sum and product of doubles.
template <unsigned bits>
using Wide = boost::multiprecision::number<
    boost::multiprecision::cpp_bin_float<bits, boost::multiprecision::digit_base_2, void, std::int32_t>,
    boost::multiprecision::et_off>;

/// Boost 1.74 fills constants that Wide's functions use at first use, behind a plain flag, which threads would race for. This fills those of 256,
/// 1024 and 5000 bits, once; call it before using any other of their functions.
void fill_wide_constants();

/// 2^(1-bits), the spacing of Wide<bits> at 1; unlike numeric_limits' epsilon it is no variable that Boost fills at first use.
template <class Real>
Real spacing_at_one() {
  return ldexp(Real(1), 1 - std::numeric_limits<Real>::digits);
}

template <class Real>
struct WideSinCos {
  Real sin;
  Real cos;
};

/// sin and cos of `angle` radians, |angle| <= 2^60, each within 2^-bits (2^14 + 2 |angle|) of that of the number given. The angle is reduced by
/// multiples of pi/2, whose error counts |angle| times; Boost's sin and cos are good to a few units in the last place below pi/4, and 2^14
/// are allowed for.
template <class Real>
WideSinCos<Real> wide_sin_cos(const Real& angle) {
  const Real& half_pi = boost::math::constants::half_pi<Real>();
  const Real quarters = round(angle / half_pi);
  const Real rest = angle - quarters * half_pi;
  const Real sine = sin(rest);
  const Real cosine = cos(rest);
  switch (static_cast<std::int64_t>(quarters) & 3) {
    case 0: return {sine, cosine};
    case 1: return {cosine, Real(-sine)};
    case 2: return {Real(-sine), Real(-cosine)};
    default: return {Real(-cosine), sine};
  }
}

}  // namespace sextant
