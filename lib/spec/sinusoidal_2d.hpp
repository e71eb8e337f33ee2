#pragma once

#include <cstdint>

#include "lib/spec/channels.hpp"
#include "lib/spec/entry.hpp"
#include "lib/spec/sinusoidal.hpp"

namespace sextant {

/// Which axis the first half of the channels encodes. He et al. 2021 (MAE) say height first; their released code
/// (util/pos_embed.py, "here w goes first") puts the width there.
enum class AxisOrder { height_first, width_first };
/// The axes of a grid, in the order of the positions' rows: [2, n] holds (row, column).
enum class GridAxis : std::int8_t { height, width };

/// He et al. 2021 (arXiv 2111.06377), appendix A.1 and its code: a patch at (row, column) of a height x width grid has
/// the 1-D code of Vaswani et al. 2017, of dim/2 channels, of its row in one half of the channels and of its column in
/// the other. dim is a multiple of 4.
struct Sinusoidal2d {
  std::int64_t dim = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
  double base = 10000;
  Layout layout = Layout::interleaved;
  AxisOrder axis_order = AxisOrder::height_first;

  static const EncodingEntry<Sinusoidal2d> entry;
};

/// Number of frequencies of each axis: dim/4.
std::int64_t pairs(const Sinusoidal2d& encoding);

/// The 1-D code that each half is.
Sinusoidal half_of(const Sinusoidal2d& encoding);

/// The channels of sin (first) and cos (second) of frequency `pair` of an axis.
Channels channels_of_pair(const Sinusoidal2d& encoding, GridAxis axis, std::int64_t pair);

/// The number of rows or columns, whichever is more.
std::int64_t position_count(const Sinusoidal2d& encoding);

}  // namespace sextant
