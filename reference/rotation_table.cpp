#include "reference/rotation_table.hpp"

#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>
#include <utility>

#include "reference/rounding.hpp"

namespace sextant::reference {
namespace {

// The values that the ends of an interval around factor * (high + low) round to, if it is one value.
//
// Narrow dtypes: with |low| <= 2^-53 |high| and an error of 2^-100, the product with a factor inside [factor_low, factor_high] lies
// within 2^-51 of itself plus 2^-99 |factor| from factor_low * high, whose own rounding is within that too; where factor_low and
// factor_high are one step apart or equal, the same. Rounding is monotone, so that both ends rounding alike settles it.
std::optional<double> settle_narrow(Dtype dtype, double high, double factor_low, double factor_high) {
  const double product = factor_low * high;
  const double slack = std::fabs(product) * 0x1p-50 + std::fabs(high * (factor_high - factor_low)) + std::fabs(factor_high) * 0x1p-98;
  const double below = round_to(dtype, product - slack);
  const double above = round_to(dtype, product + slack);
  // Zero is left to the exact tier, which knows its sign.
  return below == above && below != 0 ? std::optional(below) : std::nullopt;
}

// float64 without a factor: high + low +- 2^-100, the sum low +- 2^-99 being off by 2^-106 at most.
std::optional<double> settle_float64(double high, double low) {
  const double below = high + (low - 0x1p-99);
  const double above = high + (low + 0x1p-99);
  return below == above && below != 0 ? std::optional(below) : std::nullopt;
}

}  // namespace

RotationTable::RotationTable(FastRotations fast, Exact exact, Factor factor, Dtype dtype)
    : fast_(std::move(fast)), exact_(std::move(exact)), factor_(std::move(factor)), dtype_(dtype), enclosed_(fast_.make_row()) {
  const Enclosure enclosed = factor_(first_precision);
  factor_low_ = enclosed.lower();
  factor_high_ = enclosed.upper();
  row_.sin.resize(fast_.pairs());
  row_.cos.resize(fast_.pairs());
}

template <class Component>
double RotationTable::rounded(double high, double low, std::int64_t position, std::int64_t pair, Component component) {
  const bool plain = factor_low_ == 1 && factor_high_ == 1;
  const std::optional<double> settled = dtype_ != Dtype::float64 ? settle_narrow(dtype_, high, factor_low_, factor_high_)
                                        : plain                  ? settle_float64(high, low)
                                                                 : std::nullopt;
  if (settled) return *settled;
  ++exact_values_;
  for (Precision precision = first_precision; precision.bits <= last_precision.bits; precision.bits *= 2) {
    const auto value = correctly_rounded(dtype_, factor_(precision) * component(exact_(position, pair, precision)));
    if (value) return *value;
  }
  throw std::domain_error("RotationTable: a value stays undecided at the last precision");
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
