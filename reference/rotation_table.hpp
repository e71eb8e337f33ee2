#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "lib/numeric/dtype.hpp"
#include "reference/double_double_within.hpp"
#include "reference/enclosure.hpp"
#include "reference/fast_rotations.hpp"
#include "reference/frequency.hpp"

namespace sextant::reference {

/// Correctly rounded values of factor * sin and factor * cos of frequency * position, the nearest of a dtype, ties to
/// even: by the fast tier where its interval rounds to one value, else by the exact tier. An object belongs to one
/// thread.
class RotationTable {
 public:
  /// The exact tier: a rotation, good until the next call.
  using Exact = std::function<const Rotation&(std::int64_t position, std::int64_t pair, Precision precision)>;
  /// The factor that multiplies every value.
  using Factor = std::function<Enclosure(Precision precision)>;

  RotationTable(FastRotations fast, Exact exact, Factor factor, Dtype dtype);

  struct Row {
    std::vector<double> sin;
    std::vector<double> cos;
  };

  /// All pairs at `position`, |position| <= 2^54.
  /// @throws std::domain_error if a value cannot be decided at the last precision (no such case is known).
  const Row& at(std::int64_t position);

  /// How many values went to the exact tier so far.
  std::int64_t exact_values() const { return exact_values_; }

 private:
  template <class Component>
  double rounded(const DoubleDoubleWithin& enclosed, std::int64_t position, std::int64_t pair, Component component);

  FastRotations fast_;
  Exact exact_;
  Factor factor_;
  Dtype dtype_;
  DoubleDoubleWithin factor_value_;
  RotationRow enclosed_;
  Row row_;
  std::int64_t exact_values_ = 0;
};

}  // namespace sextant::reference
