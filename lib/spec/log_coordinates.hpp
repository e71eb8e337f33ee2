#pragma once

#include <cstdint>
#include <vector>

#include "lib/spec/entry.hpp"

namespace sextant {

/// Liu et al. 2022 (arXiv 2111.09883, Swin v2), section 3.3: the log-spaced coordinates of which a small network makes
/// the bias of two tokens of a window. A position is the offset d of two tokens, a coordinate an axis; its code has a
/// value an axis, as the released code's relative_coords_table:
///   sign(d) log2(1 + 8 |d| / (e - 1)) / 3,   3 = log2 8,
/// e the extent of the axis in `pretrained_window` where there is one, else in `window`, which then divides nothing.
/// There are one to three axes. e is at least 2. Offsets of two tokens of a window end at its extent - 1 on either
/// side, as a claim's positions do that says nothing of them; the formula goes on.
struct LogCoordinates {
  std::vector<std::int64_t> window;
  std::vector<std::int64_t> pretrained_window;  ///< of as many axes, or none

  static const EncodingEntry<LogCoordinates> entry;
};

std::int64_t axes(const LogCoordinates& encoding);

/// e - 1 of an axis.
std::int64_t divisor(const LogCoordinates& encoding, std::int64_t axis);

}  // namespace sextant
