#include "reference/rotation_table.hpp"

#include <cmath>
#include <optional>
#include <utility>

#include "reference/rounding.hpp"
#include "reference/wide_value.hpp"

namespace sextant::reference {
namespace {

// A double-double within `error` of the real number in an enclosure of twice 53 bits or more.
DoubleDoubleWithin double_double(const Enclosure& value) {
  const double high = mpfr_get_d(value.lower_end(), MPFR_RNDN);
  const Enclosure rest = value - Enclosure(high, value.precision());
  const double low = mpfr_get_d(rest.lower_end(), MPFR_RNDN);
  return {high, low, abs(rest - Enclosure(low, value.precision())).upper()};
}

// factor * (high + low), the latter within `error` of the truth. In units of u = 2^-53: the product of the highs is exact as
// product + rest; the two mixed products, at most 2 u |product| together, their sum and that with rest are off by u^2 |product| times
// 1 + 1 + 2 + 3; the product of the lows, left out, is u^2; what the factors are off by multiplies the other, with a margin for the
// roundings of this very line and for the subnormals that a factor below 2^-900 would bring, which are left to the exact tier.
std::optional<DoubleDoubleWithin> multiply(const DoubleDoubleWithin& factor, double high, double low, double error) {
  const double product = factor.high * high;
  if (!(std::fabs(product) > 0x1p-800) || !(std::fabs(product) < 0x1p1000)) return std::nullopt;
  const double rest = std::fma(factor.high, high, -product);
  const double mixed = rest + (factor.high * low + factor.low * high);
  const double sum = product + mixed;
  const double off = std::fabs(product) * 0x1p-102 + 1.001 * (std::fabs(factor.high) * error + factor.error * (std::fabs(high) + error));
  return DoubleDoubleWithin{sum, mixed - (sum - product), off};
}

}  // namespace

RotationTable::RotationTable(FastRotations fast, Exact exact, Factor factor, Dtype dtype)
    : fast_(std::move(fast)), exact_(std::move(exact)), factor_(std::move(factor)), dtype_(dtype), enclosed_(fast_.make_row()) {
  factor_value_ = double_double(factor_(first_precision));
  row_.sin.resize(fast_.pairs());
  row_.cos.resize(fast_.pairs());
}

template <class Component>
double RotationTable::rounded(double high, double low, std::int64_t position, std::int64_t pair, Component component) {
  if (const auto product = multiply(factor_value_, high, low, FastRotations::error)) {
    const auto settled = correctly_rounded(dtype_, product->high, product->low, product->error);
    // Zero is left to the exact tier, which knows its sign.
    if (settled && *settled != 0) return *settled;
  }
  ++exact_values_;
  return nearest(dtype_, [&](Precision precision) { return factor_(precision) * component(exact_(position, pair, precision)); });
}

const RotationTable::Row& RotationTable::at(std::int64_t position) {
  fast_.at(position, enclosed_);
  for (std::size_t i = 0; i < fast_.pairs(); ++i) {
    const auto pair = static_cast<std::int64_t>(i);
    row_.sin[i] = rounded(enclosed_.sin_high[i], enclosed_.sin_low[i], position, pair, [](const Rotation& r) { return r.sin; });
    row_.cos[i] = rounded(enclosed_.cos_high[i], enclosed_.cos_low[i], position, pair, [](const Rotation& r) { return r.cos; });
  }
  return row_;
}

}  // namespace sextant::reference
