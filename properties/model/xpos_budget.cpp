#include "properties/model/xpos_budget.hpp"

#include <algorithm>
#include <cmath>

#include "lib/numeric/ulp.hpp"

namespace sextant {
namespace {

using reference::Enclosure;
using reference::Precision;
using reference::RealPair;

}  // namespace

XposBudget::XposBudget(const Xpos& encoding, Dtype dtype, AccuracyClass accuracy, std::int64_t max_position)
    : oracle_(encoding),
      budget_(accuracy, dtype, oracle_.frequencies(), max_position),
      dtype_(dtype),
      roundoff_(angle_roundoff(accuracy)) {}

XposBudget::Pair XposBudget::at(std::int64_t position, std::int64_t pair, const RealPair& x, Precision precision) {
  const Enclosure scale = oracle_.scale(position, pair, precision);
  const Enclosure length = hypot(x.first, x.second);
  const Enclosure norm = scale * length;
  const double exponent = std::fabs(static_cast<double>(position)) / encoding().scale_base;
  const double total = (3 + 4 * exponent + abs(log(scale)).upper()) * roundoff_;
  const Enclosure relative(total < 0.5 ? total / (1 - total) : 1e9, precision);
  const Enclosure scaling = relative * norm + Enclosure(ulp(dtype_, 0), precision) * length;
  const Enclosure angle = oracle_.rotation(position, pair, precision).angle;
  const double limit = largest_finite(dtype_) / 2;
  return {oracle_.turned(position, pair, x, precision),
          scale,
          norm,
          budget_.component_bound(norm, angle, pair) + scaling,
          budget_.pair_bound(norm, angle, pair) + scaling,
          budget_.norm_bound(norm) + scaling,
          scale.upper() < limit && norm.upper() < limit};
}

double XposBudget::quick_scale(std::int64_t position, std::int64_t pair) const {
  const Rope& rope = encoding().rope;
  const auto width = static_cast<double>(rope.rotary_layout == RotaryLayout::prefix ? rope.rotary_dim : rope.head_dim);
  const double zeta = (2 * static_cast<double>(pair) / width + 0.4) / 1.4;
  const double exponent = static_cast<double>(position) / encoding().scale_base;
  // zeta is within 2^-50, so its power within |exponent| 2^-50.
  if (std::fabs(exponent) > 0x1p18) return 0;
  return std::pow(zeta, encoding().role == Role::query ? exponent : -exponent);
}

bool is_representable(const Xpos& encoding, const Spec& claim) {
  // zeta_0 = 2/7 is the least of them: its powers grow and shrink fastest. A pair of elements below 16 has a norm below
  // 32.
  const double furthest =
      std::max(std::fabs(static_cast<double>(claim.min_position)), std::fabs(static_cast<double>(claim.max_position)));
  return furthest / encoding.scale_base * std::log(3.5) < std::log(largest_finite(claim.dtype) / 64);
}

}  // namespace sextant
