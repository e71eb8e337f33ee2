#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "reference/enclosure.hpp"
#include "reference/fast_rotations.hpp"

namespace sextant::reference {

/// An angle in radians, with its sin and cos.
struct Rotation {
  Enclosure angle;
  Enclosure sin;
  Enclosure cos;
  bool is_diagonal = false;  ///< whether sin and cos are as large as each other, exactly
};

/// The geometric frequencies w_i = factor * base^(-i * numerator / denominator), i = 0 .. count-1, in radians per
/// position, as real-number mathematics (Vaswani et al. 2017, section 3.5; Su et al. 2021, section 3.2.2). Enclosures
/// are kept per precision, so an object belongs to one thread.
class GeometricFrequencies {
 public:
  /// Domain as lib/spec checks it: base >= 1, denominator > 0 unless count <= 1.
  /// `factors` are what angles are multiplied by, each exact.
  struct Factors {
    double scale = 1;
    double step = 1;
  };
  GeometricFrequencies(double base, std::int64_t numerator, std::int64_t denominator, std::int64_t count,
                       const Factors& factors);
  GeometricFrequencies(double base, std::int64_t numerator, std::int64_t denominator, std::int64_t count)
      : GeometricFrequencies(base, numerator, denominator, count, Factors{}) {}

  /// w_i. Relative width below 2^(8 - precision) for the bases and exponents that specs allow.
  const Enclosure& radians(std::int64_t pair, Precision precision);

  /// The rotation by w_i * position. The last one is kept, since both channels of a pair ask for it in turn: the
  /// reference is good until the next call.
  const Rotation& rotation(std::int64_t position, std::int64_t pair, Precision precision);

  /// The certified fast tier of the same frequencies.
  FastRotations fast() {
    return FastRotations::of([&](std::int64_t pair, Precision precision) { return radians(pair, precision); }, count_);
  }

  const Factors& factors() const { return factors_; }

  /// |ln w_i| = ln(base) * i * numerator / denominator, without the factors.
  Enclosure log_magnitude(std::int64_t pair, Precision precision) const;

 private:
  double base_;
  std::int64_t numerator_;
  std::int64_t denominator_;
  std::int64_t count_;
  Factors factors_;
  std::map<long, std::vector<Enclosure>> by_precision_;

  struct Kept {
    std::int64_t position;
    std::int64_t pair;
    long bits;
    Rotation rotation;
  };
  std::optional<Kept> kept_;
};

}  // namespace sextant::reference
