#pragma once

#include <optional>
#include <stdexcept>

#include "lib/kernels/wide.hpp"
#include "lib/numeric/dtype.hpp"

namespace sextant {

// Correct rounding of a real number that can only be approximated (Ziv 1991, ACM Transactions on Mathematical Software
// 17(3)): enclose it cheaply; if all of the enclosure rounds to one value of the dtype, that is the answer, since
// rounding is monotone. Else enclose it again at a higher precision.

/// A closed interval of doubles that holds a real number.
struct Interval {
  double low;
  double high;
};

/// The value of the format nearest to each real of the interval, ties to even, overflow to infinity, or nothing where
/// they round apart: to zeros of two signs, too. NaN ends: nothing.
std::optional<double> rounded_alike(Dtype dtype, const Interval& interval);

/// A real number within `error` >= 0 of `value`.
template <class Real>
struct Approximation {
  Real value;
  Real error;
};

/// Likewise, for Real = Wide<256>, Wide<1024>, Wide<5000>; nothing if a tie lies in the interval.
template <class Real>
std::optional<double> rounded_alike(Dtype dtype, const Approximation<Real>& approximation);

/// The value of the format nearest to `value`, ties to even, overflow to infinity; the same Reals.
template <class Real>
double round_wide(Dtype dtype, const Real& value);

/// What attempt.operator()<Real>() returns, an optional: of Real = Wide<256> if that is a value, else of Wide<1024>,
/// else of Wide<5000>, which covers the ends of double's range: w = 2^1074 radians turns whole turns before it leaves a
/// fraction, and cos(2^-2048) differs from 1 by 2^-4097.
template <class Attempt>
auto until_decided(Attempt attempt) {
  fill_wide_constants();
  if (auto value = attempt.template operator()<Wide<256>>()) return value;
  if (auto value = attempt.template operator()<Wide<1024>>()) return value;
  return attempt.template operator()<Wide<5000>>();
}

/// The value of the format nearest to the real number that evaluate.operator()<Real>(), an Approximation<Real>, tells
/// ever better.
/// @throws std::domain_error if 5000 bits leave it open.
template <class Evaluate>
double correctly_rounded(Dtype dtype, Evaluate evaluate) {
  const auto value =
      until_decided([&]<class Real>() { return rounded_alike(dtype, evaluate.template operator()<Real>()); });
  if (!value) throw std::domain_error("correctly_rounded: a value stays undecided at 5000 bits");
  return *value;
}

}  // namespace sextant
