#pragma once

#include <functional>
#include <optional>
#include <stdexcept>

#include "attack/numbers/element.hpp"
#include "attack/numbers/interval.hpp"

namespace sextant::attack {

/// A value that stays open at the last precision: the attack cannot tell who is right, and says so.
class Undecided : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

inline constexpr long first_precision = 320;
inline constexpr long last_precision = 40960;

/// The element nearest to a number that is not NaN, ties to even, overflow to infinity; zeros keep their sign.
Bits rounded(const ElementFormat& format, mpfr_srcptr value);

/// The element that all of an interval rounds to, if there is one. Zeros of two signs are two elements.
std::optional<Bits> rounded(const ElementFormat& format, const Interval& interval);

/// Encloses a real number at the precision asked for; nothing where a case distinction stays open there.
using Enclose = std::function<std::optional<Interval>(long bits)>;

/// The element nearest to the real number (Ziv 1991): precision grows until the enclosure rounds to one element.
/// @throws Undecided at the last precision.
Bits nearest(const ElementFormat& format, const Enclose& enclose);

}  // namespace sextant::attack
