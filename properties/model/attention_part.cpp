#include "properties/model/attention_part.hpp"

#include <cmath>

#include "reference/double_double_within.hpp"

namespace sextant {

QuickScoreTerm ScoreBiasOracle::quickly(const BiasPlace& place, const Tensor* weight) {
  const ScoreTerm term = at(place, weight, reference::first_precision);
  const auto value = reference::DoubleDoubleWithin::of(term.value);
  return {static_cast<long double>(value.high) + static_cast<long double>(value.low),
          value.error + 0x1p-62 * std::fabs(value.high), term.roundings};
}

}  // namespace sextant
