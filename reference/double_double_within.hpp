#pragma once

#include "reference/enclosure.hpp"

namespace sextant::reference {

/// A real number x with |x - (high + low)| <= error, |low| <= 2^-53 |high|: interval arithmetic at twice double
/// precision, for what is asked too often for MPFI. Each operation adds to `error` what it drops
/// (double_double_within.cpp has the bounds); an overflow leaves NaN or infinity there, of which no comparison is
/// certain.
struct DoubleDoubleWithin {
  double high;
  double low;
  double error;

  /// Exactly x.
  static DoubleDoubleWithin exactly(double x) { return {x, 0, 0}; }
  /// The real number that an enclosure of at least 106 bits holds.
  static DoubleDoubleWithin of(const Enclosure& enclosure);

  friend DoubleDoubleWithin operator+(const DoubleDoubleWithin& a, const DoubleDoubleWithin& b);
  friend DoubleDoubleWithin operator-(const DoubleDoubleWithin& a, const DoubleDoubleWithin& b);
  friend DoubleDoubleWithin operator*(const DoubleDoubleWithin& a, const DoubleDoubleWithin& b);
};

/// Doubles that bound a real number: lower <= x <= upper.
struct Bounds {
  double lower;
  double upper;
};

/// Bounds on |x|.
Bounds magnitude(const DoubleDoubleWithin& x);

}  // namespace sextant::reference
