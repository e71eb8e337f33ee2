#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lib/kernels/turns.hpp"

namespace sextant {

/// A position as nearest + excess, exactly: excess is 0 within +-2^53, and -1, 0 or 1 up to +-2^54.
struct SplitPosition {
  double nearest;
  double excess;
};
inline SplitPosition split_position(std::int64_t position) {
  const auto nearest = static_cast<double>(position);
  return {nearest, static_cast<double>(position - static_cast<std::int64_t>(nearest))};
}

/// Frequencies in turns per position, each taken modulo one turn into [-1/2, 1/2] and cut into three doubles of 53
/// bits, so that vectors of doubles can multiply them by a position and keep the fraction of the product exactly
/// (rotations-inl.h).
///
/// high + middle + low is within 2^-160 turn of the frequency; |high| <= 1/2, |middle| < 2^-54, |low| < 2^-107. The
/// arrays are padded with copies of the last frequency to a multiple of `lanes`, so that any vector of up to `lanes`
/// doubles may be read at any multiple of its own width, and a padded lane behaves as a real one.
class FrequencyPieces {
 public:
  static constexpr std::size_t lanes = 8;

  FrequencyPieces() = default;
  explicit FrequencyPieces(std::span<const Turns> frequencies);

  std::size_t pairs() const { return pairs_; }
  /// pairs() rounded up to a multiple of `lanes`.
  std::size_t padded() const { return high_.size(); }
  const double* high() const { return high_.data(); }
  const double* middle() const { return middle_.data(); }
  const double* low() const { return low_.data(); }

 private:
  std::size_t pairs_ = 0;
  std::vector<double> high_;
  std::vector<double> middle_;
  std::vector<double> low_;
};

}  // namespace sextant
