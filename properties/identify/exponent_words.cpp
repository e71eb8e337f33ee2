#include "properties/identify/exponent_words.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace sextant::identify {
namespace {

// A base that is measured from float32's frequencies is known to a few millionths.
bool is_near(double a, double b) { return std::fabs(a / b - 1) < 0x1p-14; }

// What a frequency's logarithm falls by from pair to pair.
double fall(const FrequencySeries& series) { return std::log(series.base) / series.divisor; }

}  // namespace

std::string words_of_exponents(const FrequencySeries& claimed, const FrequencySeries& found, std::int64_t shift) {
  // One that is used where nothing else is said is a base that was not read.
  constexpr double usual_base = 10000;
  if (found.base == claimed.base || found.base == usual_base || !(claimed.base > 1) || !(found.base > 1)) return {};
  const double claimed_fall = fall(claimed);
  const double found_fall = fall(found);
  const double sum = claimed.divisor + 2 * static_cast<double>(shift);
  if (shift != 0 && is_near(found_fall, std::log(claimed.base) / sum))
    return fmt::format(
        "exponents are divided by {:g}, not by {:g}: the frequency shift is added to the number of "
        "frequencies, not subtracted",
        sum, claimed.divisor);
  for (const auto& [times, how] : {std::pair{2.0, "doubled"}, std::pair{0.5, "halved"}}) {
    if (is_near(found_fall, times * claimed_fall))
      return fmt::format("exponents are {}, as with base {:.6g}, where base {:.6g} is claimed", how,
                         std::pow(claimed.base, times), claimed.base);
  }
  // Of the coefficient of a pair's number, or of a channel's, which is half of it.
  for (const double channels : {1.0, 2.0}) {
    const double floored = channels * std::ceil(claimed_fall / channels);
    if (is_near(found_fall, floored) && !is_near(claimed_fall, floored))
      return fmt::format(
          "each frequency is e^-{:g} times the one before, where the claim has e^-{:.4g}: the exponent's "
          "coefficient is rounded down to a whole number, as // does",
          floored, claimed_fall);
  }
  return {};
}

}  // namespace sextant::identify
