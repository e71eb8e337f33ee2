#pragma once

#include <cstdint>
#include <string_view>

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
  rounding    // T4: given the exact result of T3, its last rounding
};

/// "real", "frequency", "angle", "table", "rounding".
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

/// The signed error of one value, step by step: they add up to value - truth, the real number at T0.
struct StageErrors {
  Enclosure frequency;  // T1 - T0
  Enclosure angle;      // T2 - T1
  Enclosure table;      // T3 - T2
  Enclosure rounding;   // value - T3

  /// The step whose error is largest in size, by the enclosures' upper ends.
  Stage largest() const;
};

/// Of the two components.
struct PairStageErrors {
  StageErrors first;
  StageErrors second;
};

/// For a value (y0, y1) computed for factor * R(angle) x, `real` being the rotation of the spec. For a table of sines
/// and cosines itself x = (1, 0) and (y0, y1) is (cos, sin).
PairStageErrors stage_errors(const Rotation& real, const Enclosure& factor, std::int64_t position,
                             const Intermediates& had, const RealPair& x, double y0, double y1);

}  // namespace sextant::reference
