#include "lib/numeric/rounding.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "lib/numeric/domains.hpp"

namespace sextant {

void check_rows(const Rows& view, const char* argument) {
  const auto refuse = [&](std::string_view complaint) {
    throw std::invalid_argument(fmt::format("{}: {}", argument, complaint));
  };
  if (!is_floating(view.dtype)) refuse(not_floating(view.dtype));
  if (view.rows < 0) refuse(fmt::format("rows {} is negative", view.rows));
  if (view.width < 0) refuse(fmt::format("width {} is negative", view.width));
  if (view.row_stride < view.width)
    refuse(fmt::format("row_stride {} is less than the width {}", view.row_stride, view.width));
  if (view.rows == 0 || view.width == 0) return;
  if (view.data == nullptr) refuse("data is null");
  constexpr std::int64_t limit = std::int64_t{1} << 59;  // elements of at most eight bytes
  if (view.row_stride > limit / view.rows) refuse("the extent is too large");
}

}  // namespace sextant
