#pragma once

#include <boost/multiprecision/cpp_bin_float.hpp>
#include <limits>
#include <optional>
#include <stdexcept>

#include "lib/numeric/dtype.hpp"

namespace sextant {

// Correct rounding of a real number that can only be approximated (Ziv 1991, ACM Transactions on Mathematical Software 17(3)):
// enclose it cheaply; if all of the enclosure rounds to one value of the dtype, that is the answer, since rounding is monotone. Else
// enclose it again at a precision that doubles.

/// A closed interval of doubles that holds a real number.
struct Interval {
  double low;
  double high;
};

/// The value of the format nearest to each real of the interval, ties to even, or nothing where they round apart: to zeros of two signs,
/// too. NaN ends: nothing.
std::optional<double> rounded_alike(Dtype dtype, const Interval& interval);

/// Binary floating point of `Bits` bits and exponents beyond those of any sum and product here.
template <unsigned Bits>
using WideFloat =
    boost::multiprecision::number<boost::multiprecision::cpp_bin_float<Bits, boost::multiprecision::digit_base_2>, boost::multiprecision::et_off>;

/// A real number within `error` >= 0 of `value`.
template <class Real>
struct Approximation {
  Real value;
  Real error;
};

/// Likewise, for Real = WideFloat<192>, WideFloat<384>, WideFloat<768>.
template <class Real>
std::optional<double> rounded_alike(Dtype dtype, const Approximation<Real>& approximation);

/// 2^(1-Bits), the spacing of WideFloat<Bits> at 1; unlike numeric_limits' epsilon it is no variable that Boost fills at first use.
template <class Real>
Real spacing_at_one() {
  return ldexp(Real(1), 1 - std::numeric_limits<Real>::digits);
}

/// Boost 1.74 fills constants that WideFloat's functions use (epsilon, the largest value) at first use, behind a plain flag, which
/// threads would race for. This fills those of the three WideFloats above, once; call it before using any of their functions.
void fill_wide_constants();

/// The value of the format nearest to the real number that evaluate.operator()<Real>(), an Approximation<Real>, tells ever better.
/// @throws std::domain_error if 768 bits leave it open: it is a tie, or nearer to one than 2^-600 of its size.
template <class Evaluate>
double correctly_rounded(Dtype dtype, Evaluate evaluate) {
  fill_wide_constants();
  if (const auto value = rounded_alike(dtype, evaluate.template operator()<WideFloat<192>>())) return *value;
  if (const auto value = rounded_alike(dtype, evaluate.template operator()<WideFloat<384>>())) return *value;
  if (const auto value = rounded_alike(dtype, evaluate.template operator()<WideFloat<768>>())) return *value;
  throw std::domain_error("correctly_rounded: undecided at 768 bits");
}

}  // namespace sextant
