#include "properties/verdict/bound_text.hpp"

#include <fmt/format.h>

#include <cmath>

namespace sextant {

std::string bound_text(double of_bound) {
  constexpr double million = 1e6;
  if (!std::isfinite(of_bound)) return "beyond any bound";
  if (of_bound <= 1) return fmt::format("{:.2g} of the bound", of_bound);
  // Beyond it a number tells a person no more than that.
  if (of_bound >= million) return "more than a million times the bound";
  if (of_bound < 1000) return fmt::format("{:.3g} times the bound", of_bound);
  // Three digits, without an exponent.
  const double unit = std::pow(10, std::floor(std::log10(of_bound)) - 2);
  return fmt::format("{:.0f} times the bound", std::round(of_bound / unit) * unit);
}

std::string errors_text(double of_bound) {
  if (of_bound == 0) return "no error";
  if (!std::isfinite(of_bound)) return "errors beyond any bound";
  const std::string text = bound_text(of_bound);
  return "errors up to " + (text == "1 of the bound" ? "the bound" : text);
}

}  // namespace sextant
