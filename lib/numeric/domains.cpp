#include "lib/numeric/domains.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace sextant {

std::string not_floating(Dtype dtype) {
  const std::string text =
      dtype == Dtype::int64 ? std::string(name_of(dtype)) : std::to_string(static_cast<int>(dtype));
  return fmt::format("dtype {} is not a floating dtype", text);
}

void check_rounding(std::string_view function, Rounding rounding) {
  if (rounding == Rounding::certified || rounding == Rounding::fast) return;
  throw std::invalid_argument(
      fmt::format("{}: rounding: {} is neither certified nor fast", function, static_cast<int>(rounding)));
}

}  // namespace sextant
