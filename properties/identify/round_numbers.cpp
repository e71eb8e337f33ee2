#include "properties/identify/round_numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>

namespace sextant::identify {
namespace {

constexpr int most_digits = 17;  // of a double

double to_digits(double x, int digits) { return std::strtod(fmt::format("{:.{}e}", x, digits - 1).c_str(), nullptr); }

}  // namespace

Range common(const Range& a, const Range& b) { return {std::max(a.low, b.low), std::min(a.high, b.high)}; }

RoundNumber roundest_in(const Range& range) {
  // Of a wide range the middle may be far from the only round number in it, as 1 is from 0.6 to 1.2.
  for (int digits = 1; digits < most_digits; ++digits) {
    const double unit = std::pow(10, std::floor(std::log10(range.high)) - digits + 1);
    const double middle = to_digits(range.middle(), digits);
    for (const double x : {middle, to_digits(middle + unit, digits), to_digits(middle - unit, digits)}) {
      if (range.holds(x)) return {x, digits};
    }
  }
  return {range.middle(), most_digits};
}

std::optional<RoundLength> roundest_length_in(const Range& range) {
  constexpr double longest = 0x1p53;
  const Range possible = common(range, {1, longest});
  if (possible.is_empty()) return std::nullopt;
  const double power = std::exp2(std::ceil(std::log2(possible.low)));
  if (possible.holds(power)) return RoundLength{static_cast<std::int64_t>(power), 2};
  const Range whole{std::ceil(possible.low), std::floor(possible.high)};
  if (whole.is_empty()) return std::nullopt;
  const RoundNumber number = roundest_in(whole);
  if (number.value != std::floor(number.value))
    return RoundLength{static_cast<std::int64_t>(std::floor(whole.middle())), most_digits};
  return RoundLength{static_cast<std::int64_t>(number.value), number.digits};
}

namespace {

bool shows_two_more_digits(const Range& range, const RoundNumber& number) {
  const double last_digit = std::pow(10, std::floor(std::log10(number.value)) - number.digits + 1);
  return range.high - range.low < last_digit / 100;
}

}  // namespace

bool is_pinned(const Range& range, const RoundNumber& number) {
  const bool holds_other = std::floor(range.high) > number.value || std::ceil(range.low) < number.value;
  return shows_two_more_digits(range, number) && !holds_other;
}

bool is_pinned_base(const Range& range, const RoundNumber& base) {
  const bool is_in_use = std::ranges::find(bases_in_use, base.value) != bases_in_use.end();
  return is_pinned(range, base) || (is_in_use && shows_two_more_digits(range, base));
}

std::string interval_text(std::string_view name, double value, const Range& range, bool is_pinned) {
  return fmt::format("{} {:.10g} +- {:.2g}{}", name, value, std::max(range.high - value, value - range.low),
                     is_pinned ? "" : ", the roundest of its range");
}

}  // namespace sextant::identify
