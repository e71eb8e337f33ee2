#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "attack/numbers/interval.hpp"

namespace sextant::attack {

/// sin and cos of an angle, each within quick_error of itself.
struct QuickTurn {
  long double sine;
  long double cosine;
};
/// The C library's long double sine and cosine are within an ULP or two, 2^-62 for x87's format; the angle within 2^-62
/// of itself: phases of at least 2^-68 turns are taken here, and are known within 2^-134, and 2 pi and the product are
/// rounded. 2^-60 is more than all of it.
inline constexpr long double quick_error = 0x1p-60L;

/// The frequencies of an encoding in radians per position, at whatever precision they are asked for.
class Frequencies {
 public:
  /// The enclosure of a pair's frequency; nothing where the precision leaves a case distinction open.
  using Formula = std::function<std::optional<Interval>(std::int64_t pair, long bits)>;

  Frequencies(std::int64_t count, Formula formula)
      : formula_(std::move(formula)),
        first_(static_cast<std::size_t>(count)),
        turns_(static_cast<std::size_t>(count)) {}

  std::int64_t count() const { return static_cast<std::int64_t>(first_.size()); }

  std::optional<Interval> radians(std::int64_t pair, long bits) const;

  /// sin and cos of frequency times position.
  std::optional<SineAndCosine> turned(std::int64_t pair, std::int64_t position, long bits) const;

  /// The same in long double, where that can be told; nothing for phases too near to a quarter of a turn.
  std::optional<QuickTurn> quickly_turned(std::int64_t pair, std::int64_t position) const;

  /// The frequency in turns per position modulo 1, in units of 2^-192, least word first; within four units.
  std::array<std::uint64_t, 3> turns(std::int64_t pair) const;

 private:
  Formula formula_;
  mutable std::vector<std::optional<Interval>> first_;  // at first_precision
  mutable std::vector<std::optional<std::array<std::uint64_t, 3>>> turns_;
};

/// make()'s frequencies, kept for the next calls of the same name.
std::shared_ptr<const Frequencies> kept_frequencies(const std::string& name, const std::function<Frequencies()>& make);

/// base^(-numerator / denominator), base at least 1.
Interval inverse_power(double base, std::int64_t numerator, std::int64_t denominator, long bits);

}  // namespace sextant::attack
