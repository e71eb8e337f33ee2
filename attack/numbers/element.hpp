#pragma once

#include <cstdint>

#include "lib/numeric/dtype.hpp"

namespace sextant::attack {

// Elements as bit patterns, and what IEEE 754-2019, section 3.4, says of them; by code of our own, since
// lib/numeric/dtype.cpp is part of what is attacked.

using Bits = std::uint64_t;

/// A binary interchange format: `width` bits, significands of `precision` bits, exponents from `least` for normal
/// numbers on.
struct ElementFormat {
  int width;
  int precision;
  int least;

  constexpr int stored() const { return precision - 1; }
  constexpr Bits sign() const { return Bits{1} << (width - 1); }
  constexpr Bits infinity() const { return sign() - (Bits{1} << stored()); }
  constexpr Bits quiet_nan() const { return infinity() | (Bits{1} << (stored() - 1)); }
  constexpr Bits largest() const { return infinity() - 1; }
  constexpr int greatest() const { return 1 - least; }
};

/// The format of a floating dtype.
ElementFormat element_format(Dtype dtype);

constexpr Bits magnitude(const ElementFormat& format, Bits bits) { return bits & (format.sign() - 1); }
constexpr bool is_negative(const ElementFormat& format, Bits bits) { return (bits & format.sign()) != 0; }
constexpr bool is_nan(const ElementFormat& format, Bits bits) { return magnitude(format, bits) > format.infinity(); }
constexpr bool is_infinite(const ElementFormat& format, Bits bits) {
  return magnitude(format, bits) == format.infinity();
}
constexpr bool is_zero(const ElementFormat& format, Bits bits) { return magnitude(format, bits) == 0; }

/// The value of an element, exactly.
double value_of(const ElementFormat& format, Bits bits);

/// The element of a value; the value must be one of the format's.
Bits bits_of(const ElementFormat& format, double value);

/// Whether the reals within `error` of `value` certainly all round to `bits`, ties to even. False says nothing.
bool certainly_rounds_to(const ElementFormat& format, Bits bits, long double value, long double error);

}  // namespace sextant::attack
