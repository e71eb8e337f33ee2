#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lib/numeric/dtype.hpp"
#include "lib/spec/alibi.hpp"

namespace sextant {

/// A slope as the kernel takes it: high + low, within 2^-106 of the true one; where it is a double, low is 0. Of those
/// a power of two times a position is a double too.
struct AlibiSlope {
  enum class Kind { power_of_two, other_double, irrational };
  Kind kind;
  double high;
  double low;
};

/// One row of a bias: slope * factor of each key, as AlibiEncoder::bias states it. Positions are doubles here.
/// Precondition: they, and every distance of two of them, are integers within 2^53, so exact.
struct AlibiRow {
  Dtype dtype;
  AlibiSlope slope;
  Mask mask;
  AlibiForm form;
  double query;
  std::span<const double> keys;
  std::byte* out;  ///< keys.size() elements, at any alignment
};

/// Fills the row but for the stretches whose rounding is left open, or that are too short for a vector: these are added
/// to `open`, which is for the caller to fill, as pairs of the first key and the one after the last.
struct Stretch {
  std::int64_t first;
  std::int64_t end;
};
void fill_alibi_row(const AlibiRow& row, std::vector<Stretch>& open);

}  // namespace sextant
