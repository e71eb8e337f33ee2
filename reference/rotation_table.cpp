#include "reference/rotation_table.hpp"

#include <utility>

#include "reference/rounding.hpp"
#include "reference/wide_value.hpp"

namespace sextant::reference {
RotationTable::RotationTable(FastRotations fast, Exact exact, Factor factor, Dtype dtype)
    : fast_(std::move(fast)),
      exact_(std::move(exact)),
      factor_(std::move(factor)),
      dtype_(dtype),
      factor_value_(DoubleDoubleWithin::of(factor_(first_precision))),
      enclosed_(fast_.make_row()) {
  row_.sin.resize(fast_.pairs());
  row_.cos.resize(fast_.pairs());
}

template <class Component>
double RotationTable::rounded(const DoubleDoubleWithin& enclosed, std::int64_t position, std::int64_t pair,
                              Component component) {
  const DoubleDoubleWithin truth = factor_value_ * enclosed;
  const auto settled = correctly_rounded(dtype_, truth.high, truth.low, truth.error);
  // Zero is left to the exact tier, which knows its sign.
  if (settled && *settled != 0) return *settled;
  ++exact_values_;
  return nearest(
      dtype_, [&](Precision precision) { return factor_(precision) * component(exact_(position, pair, precision)); });
}

const RotationTable::Row& RotationTable::at(std::int64_t position) {
  fast_.at(position, enclosed_);
  for (std::size_t i = 0; i < fast_.pairs(); ++i) {
    const auto pair = static_cast<std::int64_t>(i);
    row_.sin[i] = rounded(enclosed_.sin(i), position, pair, [](const Rotation& r) { return r.sin; });
    row_.cos[i] = rounded(enclosed_.cos(i), position, pair, [](const Rotation& r) { return r.cos; });
  }
  return row_;
}

}  // namespace sextant::reference
