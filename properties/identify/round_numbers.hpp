#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sextant::identify {

/// The real numbers low <= x <= high; none where that is false.
struct Range {
  double low = 0;
  double high = 0;

  bool is_empty() const { return !(low <= high); }
  bool holds(double x) const { return low <= x && x <= high; }
  double middle() const { return low + (high - low) / 2; }
};

/// The numbers of both.
Range common(const Range& a, const Range& b);

/// A number as a person would write it: `digits` significant decimal digits, zeros at the end not counted.
struct RoundNumber {
  double value = 0;
  int digits = 0;
};

/// The number of the range that has the fewest digits; of several the one nearest to the middle. The range must hold
/// positive, finite numbers.
RoundNumber roundest_in(const Range& range);

/// The positive whole number of the range that a length would be: a power of two, which counts as two digits, else the
/// roundest; nothing where it has none.
struct RoundLength {
  std::int64_t value = 0;
  int digits = 0;
};
std::optional<RoundLength> roundest_length_in(const Range& range);

/// Whether a range tells a round number from others nearly as round: it is narrower than a hundredth of the last digit,
/// so that two more digits are seen to be 0, and holds no second whole number, since such parameters are written in
/// full: 8000009 is as much a base as 8000000 is.
bool is_pinned(const Range& range, const RoundNumber& number);

/// The same of a base: one that models in use have is told from other whole numbers.
bool is_pinned_base(const Range& range, const RoundNumber& base);

/// Bases of models in use, which are tried where the data do not tell one.
inline constexpr std::array bases_in_use{10000.0, 500000.0, 1000000.0, 5000000.0, 10000000.0, 150000.0, 100.0};

/// "base 8000000 +- 12", and "the roundest of its range" of one that others in it are as likely as.
std::string interval_text(std::string_view name, double value, const Range& range, bool is_pinned);

}  // namespace sextant::identify
