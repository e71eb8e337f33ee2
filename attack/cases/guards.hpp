#pragma once

#include <span>
#include <string_view>

#include "attack/numbers/random.hpp"

namespace sextant::attack {

/// A number at which code takes another way: its value, and the file that has it. Cases are made at the value, at the
/// doubles beside it, and around it.
struct Guard {
  std::string_view name;
  std::string_view file;
  double value;
};

/// Of a sinusoidal code's scale, of rope's attention factor, of magnitudes of elements, of the powers of xPos.
std::span<const Guard> scale_guards();
std::span<const Guard> factor_guards();
std::span<const Guard> size_guards();
std::span<const Guard> power_guards();
/// Of whole numbers: rows of a table, tokens, heads, widths, bytes.
std::span<const Guard> count_guards();

/// At one of the guards, next to it, or within a factor of two.
double draw_guarded(Random& random, std::span<const Guard> guards);

}  // namespace sextant::attack
