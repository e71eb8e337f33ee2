#pragma once

namespace sextant {

/// What a pair of frequency 1 turns by for each count of a coordinate: a radian, or a whole turn, divided by the exact
/// sum whole + part.
struct CountUnit {
  enum class Of { radian, turn };

  Of of = Of::radian;
  double whole = 1;
  double part = 0;

  bool operator==(const CountUnit&) const = default;
};

}  // namespace sextant
