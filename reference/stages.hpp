#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "lib/numeric/dtype.hpp"
#include "reference/enclosure.hpp"
#include "reference/frequency.hpp"
#include "reference/rope.hpp"

namespace sextant::reference {

// "Correct" means something else at each stage of a computation. Each stage below takes what an implementation had when
// it got there as given and exact, and is real-number mathematics from there on; so the error of a value against the
// first splits into what each step added.

enum class Stage {
  real,       // T0: the mathematics of the spec
  frequency,  // T1: given the frequencies it uses
  angle,      // T2: given the angle it forms
  table,      // T3: given its sine and cosine
  rotation,   // what its arithmetic adds to the exact result of T3
  rounding    // T4: the last rounding
};

/// "real", "frequency", "angle", "table", "rotation", "rounding".
std::string_view name_of(Stage stage);

/// T1: the rotation by frequency * position, in radians; `frequency` taken exactly.
Rotation rotation_at_frequency(double frequency, std::int64_t position, Precision precision);

/// T2: the rotation by `angle` radians, taken exactly.
Rotation rotation_at_angle(double angle, Precision precision);

/// The sine and cosine that an implementation multiplies by.
struct TableEntry {
  double sin;
  double cos;
};

/// T3: (x0 c - x1 s, x0 s + x1 c) for the given s and c.
RealPair rotate_by_table(const TableEntry& entry, const RealPair& x);

/// What an implementation had at each stage for one pair at one position.
struct Intermediates {
  double frequency;
  double angle;
  TableEntry table;
};

/// The same as an implementation's values show them. What is absent is as exact as the stage before it, as far as they
/// tell.
struct SeenIntermediates {
  std::optional<double> frequency;  ///< in radians per position
  std::optional<double> angle;      ///< in radians, whole turns aside
  std::optional<TableEntry> table;  ///< with the factor in it
};

/// A pair of values that an implementation returned.
struct TurnedValues {
  double first = 0;
  double second = 0;
  Dtype dtype = Dtype::float64;
  /// What is not known of the table's entries, each: they were seen rounded themselves.
  double unseen_of_table = 0;
};

/// The signed error of one value, step by step: they add up to value - truth, the real number at T0.
struct StageErrors {
  Enclosure frequency;  // T1 - T0
  Enclosure angle;      // T2 - T1
  Enclosure table;      // T3 - T2
  Enclosure rotation;   // value - T3 where the last rounding alone does not make it, else 0
  Enclosure rounding;   // value - T3 where it does: less than one ULP of the value, whichever way it rounds, else 0

  /// The step whose error is largest in size, by the enclosures' upper ends.
  Stage largest() const;
};

/// Of the two components.
struct PairStageErrors {
  StageErrors first;
  StageErrors second;
};

/// For values y computed for factor * R(angle) x, `real` being the rotation of the spec. For a table of sines and
/// cosines itself x = (1, 0) and y is (cos, sin).
PairStageErrors stage_errors(const Rotation& real, const Enclosure& factor, std::int64_t position,
                             const SeenIntermediates& had, const RealPair& x, const TurnedValues& y);
PairStageErrors stage_errors(const Rotation& real, const Enclosure& factor, std::int64_t position,
                             const Intermediates& had, const RealPair& x, const TurnedValues& y);

}  // namespace sextant::reference
