#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>

#include "lib/numeric/dtype.hpp"

namespace sextant {

/// Where the positions of an encoding lie, and how a subject is given them: n * step for whole numbers n, in `dtype`,
/// exact as given. Everything that counts positions counts n: a spec's ends, cases, tokens, ranges, encoders. Only
/// where a position meets the outside world, a subject or a reader, is it n * step.
struct PositionGrid {
  double step = 1;             ///< a power of two from 2^-40 to 1; 1 under int64
  Dtype dtype = Dtype::int64;  ///< int64, float32, float64

  /// The position of that count, exactly: |count| <= 2^53.
  double at(std::int64_t count) const { return static_cast<double>(count) * step; }

  /// The count of a position; nothing where it is no multiple of the step or its count is beyond 2^53.
  std::optional<std::int64_t> count_of(double position) const {
    const double count = position / step;  // exact
    if (!(std::fabs(count) <= 0x1p53) || count != std::trunc(count)) return std::nullopt;
    return static_cast<std::int64_t>(count);
  }

  /// The greatest count: up to it every multiple of the step is a number of the dtype.
  std::int64_t most() const { return std::int64_t{1} << (dtype == Dtype::float32 ? 24 : 53); }

  /// "257", "2.0078125": the position of that count, in full.
  std::string text(std::int64_t count) const;
};

}  // namespace sextant
