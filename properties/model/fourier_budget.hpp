#pragma once

#include <cstdint>

#include "lib/spec/spec.hpp"
#include "properties/model/budget.hpp"
#include "reference/enclosure.hpp"

namespace sextant {

/// How a class' arithmetic rounds Fourier features, in roundoffs u of it: docs/proofs/accuracy-classes.md, steps 19 to
/// 23.
class FourierRoundings {
 public:
  FourierRoundings(const ArithmeticClaim& claim, const Fourier& encoding) : claim_(claim), encoding_(encoding) {}

  /// u: 0 for the two strictest classes.
  double roundoff() const { return angle_roundoff(claim_.accuracy); }

  /// h of step 19: those of a coordinate's quotient; none where the coordinate is the position.
  double of_quotient(std::int64_t axis) const;

  /// R of step 21: those of an angle, relative to its S.
  double of_angle(std::int64_t axis, std::int64_t band) const;

  /// What an angle is off by where its products are subnormal, for each axis and over 1 + |c|, c its coordinate, in
  /// roundoffs u: step 21.
  double of_underflow() const;

  /// The bound on a coordinate in the row: step 23.
  reference::Enclosure coordinate_bound(std::int64_t axis, const reference::Enclosure& truth) const;

 private:
  double of_frequency(std::int64_t band) const;
  bool is_whole() const;

  ArithmeticClaim claim_;
  Fourier encoding_;
};

}  // namespace sextant
