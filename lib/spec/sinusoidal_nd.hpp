#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lib/spec/channels.hpp"
#include "lib/spec/count_unit.hpp"
#include "lib/spec/entry.hpp"
#include "lib/spec/rope_nd.hpp"
#include "lib/spec/sinusoidal.hpp"

namespace sextant {

/// The divisor of the frequency exponent: base^(-2k/n), or base^(-k/(n/2 - 1)) as tensor2tensor has it.
enum class Denominator { dim, half_minus_one };

/// The channels of the axes: those of one axis after those of another, or pair by pair, an axis at a time (LoFTR,
/// arXiv 2104.00680, src/loftr/utils/position_encoding.py).
enum class ChannelOrder { blocked, alternating };

/// Sinusoidal codes of several coordinates as deployed. The k-th pair of axis a, which has channels[a] channels of its
/// own, holds sin(w_k c) and cos(w_k c) of the axis' coordinate c, where w_k = base^(-2k/channels[a]) and
///   index       c = (p + position_offset) / scales[a]
///   normalized  c = 2 pi (p + position_offset) / (extents[a] - 1 + position_offset + epsilon)
/// so that the last coordinate is a whole turn but for epsilon (DETR, arXiv 2005.12872, models/position_encoding.py,
/// whose rows are counted from 1). axis_order says in which order the axes come in the row; what of them lies beyond
/// dim is cut off, and what of dim lies beyond them is 0.
struct SinusoidalNd {
  std::int64_t dim = 0;
  /// The number of positions on each axis: 1 to 4 axes.
  std::vector<std::int64_t> extents;
  /// By the axes' numbers, each even.
  std::vector<std::int64_t> channels;
  /// The axes by their numbers; empty for 0, 1, 2, ...
  std::vector<std::int64_t> axis_order;
  double base = 10000;
  Layout layout = Layout::interleaved;
  First first = First::sin;
  Denominator denominator = Denominator::dim;
  ChannelOrder channel_order = ChannelOrder::blocked;
  std::int64_t position_offset = 0;
  Coordinates coordinates = Coordinates::index;
  double epsilon = 0;
  /// By the axes' numbers; empty where all are 1.
  std::vector<double> scales;

  static const EncodingEntry<SinusoidalNd> entry;
};

/// Number of coordinates of a position.
std::int64_t axes(const SinusoidalNd& encoding);

/// The numbers of the axes as they come in the row.
std::vector<std::int64_t> order_of_axes(const SinusoidalNd& encoding);

/// The 1-D code of an axis' counts p + position_offset: its channels, were they alone.
Sinusoidal code_of_axis(const SinusoidalNd& encoding, std::int64_t axis);

/// What one such count turns the pair of frequency 1 by.
CountUnit unit_of_axis(const SinusoidalNd& encoding, std::int64_t axis);

/// Number of frequencies of an axis.
std::int64_t pairs(const SinusoidalNd& encoding, std::int64_t axis);

/// The channels of sin (first) and cos (second) of a pair of an axis; those from dim on are cut off.
Channels channels_of_pair(const SinusoidalNd& encoding, std::int64_t axis, std::int64_t pair);

/// The number of channels before those that are 0: dim, or the axes' together where that is less.
std::int64_t filled_channels(const SinusoidalNd& encoding);

}  // namespace sextant
