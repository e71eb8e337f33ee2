#include "properties/model/xpos_budget.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "lib/numeric/ulp.hpp"

namespace sextant {
namespace {

using reference::Enclosure;
using reference::Precision;
using reference::RealPair;

// Of a relative error r that may be any number.
constexpr double unbounded = 1e9;

double relative(double total) { return total < 0.5 ? total / (1 - total) : unbounded; }

}  // namespace

XposBudget::XposBudget(const Xpos& encoding, const ArithmeticClaim& claim, std::int64_t max_position)
    : oracle_(encoding),
      budget_(claim, oracle_.frequencies(), max_position, RoundedFactor{}),
      own_(budget_.of_own_frequencies()),
      dtype_(claim.dtype),
      roundoff_(angle_roundoff(claim.accuracy)),
      of_power_(2 * claim.libm) {}

XposBudget::Pair XposBudget::at(const Place& place, std::int64_t pair, const RealPair& x, Precision precision) {
  const std::int64_t count = counted(place);
  const Enclosure scale = oracle_.scale(count, pair, precision);
  const Enclosure length = hypot(x.first, x.second);
  const Enclosure norm = scale * length;
  const double exponent = std::fabs(static_cast<double>(count)) / encoding().scale_base;
  const double total = (of_power_ + 4 * exponent + abs(log(scale)).upper()) * roundoff_;
  const Enclosure least = Enclosure(least_scale_error(), precision) * length;
  const Enclosure scaling = Enclosure(relative(total), precision) * norm + least;
  const Enclosure largest = norm + scaling;
  const reference::Rotation& rotation = oracle_.rotation(place.position, pair, precision);
  const Enclosure& angle = rotation.angle;
  const RealPair rotated = reference::RopeReference::rotate(rotation, x);
  return {{scale * rotated.first, scale * rotated.second},
          scale,
          norm,
          budget_.component_bound(norm, angle, pair) + scaling,
          budget_.pair_bound(norm, angle, pair) + scaling,
          own_.pair_bound(norm, angle, pair) + scaling,
          budget_.norm_bound(norm) + scaling,
          budget_.norm_bound(largest) + least,
          scale.upper() < limit() && norm.upper() < limit()};
}

double XposBudget::quick_scale_error(std::int64_t count, double log_scale) const {
  const double exponent = std::fabs(static_cast<double>(count)) / encoding().scale_base;
  const double total = (of_power_ + 4 * exponent + std::fabs(log_scale)) * roundoff_;
  return std::fabs(total - 0.5) < 0x1p-40 ? std::numeric_limits<double>::quiet_NaN() : relative(total);
}

double XposBudget::least_scale_error() const { return ulp(dtype_, 0); }

double XposBudget::limit() const { return largest_finite(dtype_) / 2; }

bool is_representable(const Xpos& encoding, const Spec& claim) {
  // zeta_0 = 2/7 is the least of them: its powers grow and shrink fastest. A pair of elements below 16 has a norm below
  // 32.
  // A call is at most max_position long, and half of it is the centre at most.
  const auto first = static_cast<double>(claim.min_position);
  const auto last = static_cast<double>(claim.max_position);
  const auto* centre = std::get_if<std::int64_t>(&encoding.centre);
  const double furthest = centre == nullptr ? std::max(std::fabs(first), last) / 2 + std::fabs(std::min(first, 0.0)) + 1
                                            : std::max(std::fabs(first - static_cast<double>(*centre)),
                                                       std::fabs(last - static_cast<double>(*centre)));
  return furthest / encoding.scale_base * std::log(3.5) < std::log(largest_finite(claim.dtype) / 64);
}

}  // namespace sextant
