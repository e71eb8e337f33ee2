#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "reference/double_double_within.hpp"
#include "reference/fixed_turns.hpp"

namespace sextant::reference {

/// sin and cos of every pair at one position as unevaluated sums of two doubles; entries beyond the pair count pad to
/// full vectors.
struct RotationRow {
  /// Bound on |true value - (high + low)| of each component, twice what docs/proofs/fast-rotations.md, step 13, proves.
  static constexpr double error = 0x1p-100;

  std::vector<double> sin_high;
  std::vector<double> sin_low;
  std::vector<double> cos_high;
  std::vector<double> cos_low;

  DoubleDoubleWithin sin(std::size_t pair) const { return {sin_high[pair], sin_low[pair], error}; }
  DoubleDoubleWithin cos(std::size_t pair) const { return {cos_high[pair], cos_low[pair], error}; }
};

/// The certified fast tier: sin and cos of frequency * position for all pairs of an encoding, in double-double on the
/// widest vectors of the machine, with a proven bound.
///
/// For |position| <= 2^54, each true value lies within RotationRow::error of high + low: proved from the phase to the
/// last addition in docs/proofs/fast-rotations.md. What this leaves open goes to the exact tier. Const: one object may
/// serve any number of threads.
class FastRotations {
 public:
  /// The same, for those who have no row.
  static constexpr double error = RotationRow::error;

  /// @param frequencies  one per pair, as fixed_turns makes them.
  explicit FastRotations(std::span<const FixedTurns> frequencies);

  /// Those of `pairs` frequencies that radians(pair, precision) encloses.
  template <class Radians>
  static FastRotations of(Radians radians, std::int64_t pairs) {
    std::vector<FixedTurns> turns;
    for (std::int64_t pair = 0; pair < pairs; ++pair) {
      turns.push_back(fixed_turns([&](Precision precision) { return radians(pair, precision); }));
    }
    return FastRotations(turns);
  }

  /// sin and cos of each of `angles`, in radians and taken exactly, |angle| <= 2^64: the same bound. The row has an
  /// entry for each and padding beyond.
  /// @throws std::domain_error for an angle outside of the domain.
  static void at_angles(std::span<const double> angles, RotationRow& row);

  /// The instruction set that the kernels run on, as Highway names it: "AVX3", "NEON", ...
  static std::string target();

  std::size_t pairs() const { return frequencies_.size(); }

  /// A row of the right size.
  RotationRow make_row() const;

  /// All pairs at one position.
  void at(std::int64_t position, RotationRow& row) const;

  /// All pairs at each of `count` consecutive positions, in order: cheaper per position than `at` by an order. The row
  /// is good for the length of the visit.
  void sweep(std::int64_t first, std::int64_t count,
             const std::function<void(std::int64_t position, const RotationRow& row)>& visit) const;

 private:
  std::vector<FixedTurns> frequencies_;
  std::vector<RotationRow> steps_;  // at positions 1, 2, ... as far as a sweep reaches from a centre
};

}  // namespace sextant::reference
