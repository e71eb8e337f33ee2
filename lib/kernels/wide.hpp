#pragma once

#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cstdint>
#include <limits>

// Arithmetic of a fixed but arbitrary precision, by cpp_bin_float: for constants, and for the rare value that
// double-double leaves open. It is slow, and it is asked for once in 2^25 values or less.
//
// Boost states no error bounds. These are what the derivations here rely on at 256, 1024 and 5000 bits, with e =
// spacing_at_one; assumed_bounds_test.cpp holds Boost to them over the arguments that occur. All but the last line are
// about twice what is measured there.
//
//   pi and its multiples, ln 2   2^9 e of themselves (391 e for pi at 5000 bits, less than e at the others)
//   log x                        2^7 e of itself, for x a quotient of two doubles
//   exp x                        (2^5 |x| + 2^6) e of itself, |x| <= 20000
//   sin x                        2^4 e of itself, |x| <= pi/4
//   cos x                        2^10 e of itself, |x| <= pi/4
//   + - * / sqrt                 e of themselves, half of which is the rounding

namespace sextant {

/// A floating-point number of `bits` bits, with exponents beyond those of any sum and product of doubles.
template <unsigned bits>
using Wide = boost::multiprecision::number<
    boost::multiprecision::cpp_bin_float<bits, boost::multiprecision::digit_base_2, void, std::int32_t>,
    boost::multiprecision::et_off>;

/// Boost 1.74 fills constants that Wide's functions use at first use, behind a plain flag, which threads would race
/// for. This fills those of 256, 1024 and 5000 bits, once; call it before using any other of their functions.
void fill_wide_constants();

/// 2^(1-bits), the spacing of Wide<bits> at 1; unlike numeric_limits' epsilon it is no variable that Boost fills at
/// first use.
template <class Real>
Real spacing_at_one() {
  return ldexp(Real(1), 1 - std::numeric_limits<Real>::digits);
}

/// pi, once and when first asked for. Boost's own constants of these numbers are made whenever a program starts, used
/// or not, which takes 20 ms at 5000 bits. acos(-1) is Boost's pi to the bit; twice and half of it are exact.
template <class Real>
const Real& wide_pi() {
  static const Real value = acos(Real(-1));
  return value;
}

template <class Real>
const Real& wide_two_pi() {
  static const Real value = ldexp(wide_pi<Real>(), 1);
  return value;
}

template <class Real>
const Real& wide_half_pi() {
  static const Real value = ldexp(wide_pi<Real>(), -1);
  return value;
}

/// ln 2, likewise.
template <class Real>
const Real& wide_ln_two() {
  static const Real value = log(Real(2));
  return value;
}

template <class Real>
struct WideSinCos {
  Real sin;
  Real cos;
};

/// sin and cos of `angle` radians, |angle| <= 2^60, each within (2^12 + 2^10 |angle|) e of that of the number given,
/// and the sine within 2^4 e of itself where |angle| <= 1/2. The angle is reduced by multiples of pi/2, which err by
/// 2^9 e of themselves and the roundings of the product and the difference, 2 e |angle|; Boost's sin and cos come to
/// 2^10 e.
template <class Real>
WideSinCos<Real> wide_sin_cos(const Real& angle) {
  const Real& half_pi = wide_half_pi<Real>();
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
