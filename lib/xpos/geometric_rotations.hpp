#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "lib/kernels/powers.hpp"
#include "lib/kernels/turns.hpp"
#include "lib/numeric/dtype.hpp"

namespace sextant {

/// The rotations by the angles w_i p, w_i = base^(-2 i / width) radians per position, i = 0 .. count-1, applied to
/// pairs of channels with correct rounding: each result is the nearest value of its dtype to the real number, ties to
/// even, whatever the position. Const: one object may serve any number of threads.
class GeometricRotations {
 public:
  /// Domain: base >= 1 and finite, width > 0. @throws std::invalid_argument outside of it.
  GeometricRotations(double base, std::int64_t width, std::int64_t count);

  /// One angle and one factor, for as many pairs of channels as they apply to. Belongs to one thread, and lives no
  /// longer than the object that made it.
  class Turn {
   public:
    /// The nearest value of `dtype` to factor * (a cos + b sin), ties to even; a and b are finite. At position 0 that
    /// is factor * a. A zero that comes of a = b = 0 has the sign that the formula gives it in float64.
    double combine(Dtype dtype, double a, double b);

    /// a cos + b sin in float64, without the factor and with no bound: for arguments that are not finite.
    double unrounded(double a, double b) const;

    /// Whether nothing changes: the angle is 0, and the factor 1.
    bool is_identity() const { return position_ == 0 && (!power_ || power_->exponent_numerator == 0); }

   private:
    friend class GeometricRotations;
    struct Precise;
    Turn(const GeometricRotations& owner, std::int64_t pair, std::int64_t position);
    template <class Real>
    struct Parts;
    template <class Real>
    Parts<Real> parts() const;

    const GeometricRotations* owner_;
    std::int64_t pair_;
    std::int64_t position_;
    std::optional<PowerScale> power_;
    SinCos cheap_;
    double factor_ = 1;
    double factor_error_ = 0;  // relative
    std::shared_ptr<const Precise> precise_;
  };

  /// The rotation of `pair` at any position.
  Turn at(std::int64_t pair, std::int64_t position) const;

  /// The same with a factor.
  Turn at(std::int64_t pair, std::int64_t position, const PowerScale& factor) const;

 private:
  double base_;
  std::int64_t width_;
  std::vector<Turns> frequencies_;
};

}  // namespace sextant
