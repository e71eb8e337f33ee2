#pragma once

#include <cstdint>
#include <vector>

#include "lib/spec/entry.hpp"
#include "lib/spec/rope.hpp"

namespace sextant {

/// How the axes share the pairs: the first pairs are those of the first axis, the next those of the second (Qwen2-VL);
/// or pair i is that of axis number i mod axes's while that axis has pairs left, and of the first axis' afterwards
/// (Qwen3-VL).
enum class SectionOrder { blocked, interleaved };

/// Which frequencies the pairs of an axis have, w_i being those of one rotary encoding as wide as all pairs together.
///   shared    pair i has w_i, whatever its axis (M-RoPE)
///   per_axis  the k-th pair of axis a has w_k of a rotary encoding of its own, which is 2 sections[a] wide (FLUX, Wan,
///             the vision towers of Qwen2-VL)
///   dealt     the k-th pair of the j-th axis has w_(j + k axes) (Pixtral)
enum class AxisFrequencies { shared, per_axis, dealt };

/// Where the frequencies of a ladder of m pairs lie, k being the pair's number in it.
///   falling    rope_theta^(-2k/n), n its width, which ends short of 1/rope_theta
///   both_ends  rope_theta^(k/(m-1)), from 1 up to rope_theta, both included (LTX-Video, arXiv 2501.00103, as released)
enum class LadderShape { falling, both_ends };

/// What a pair's frequency multiplies: the coordinate p itself; or a place in [-1, 1] of a whole turn, the middle of
/// patch p of `extent`, 2 pi (2p + 1 - extent) / extent (DINOv3, arXiv 2508.10104, as released), or where it begins,
/// 2 pi (2p - extent) / extent (LTX-Video, which has quarters of turns: a scale says so).
enum class Coordinates { index, normalized, normalized_starts };

/// Rotary encoding of a position with several coordinates; M-RoPE, Wang et al. 2024 (Qwen2-VL, arXiv 2409.12191),
/// section 2.1: the pairs of a rotary encoding, each of which turns by the coordinate of its axis. sections holds each
/// axis's number of pairs, together rotary_dim/2. With rope.parts as many as axes, an axis' pairs lie within its own
/// part of the head (Gemma 4's towers). Positions are [axes, batch, n], and the length that a scaling rule
/// looks at is the largest coordinate + 1.
struct RopeNd {
  Rope rope;
  std::vector<std::int64_t> sections;
  SectionOrder section_order = SectionOrder::blocked;
  /// The order in which the axes come in the head, by their numbers; empty for 0, 1, 2, ...
  std::vector<std::int64_t> axis_order;
  AxisFrequencies frequencies = AxisFrequencies::shared;
  /// The base of each axis, of per_axis; empty where all have rope's.
  std::vector<double> rope_thetas;
  Coordinates coordinates = Coordinates::index;
  /// The patches along each axis, of normalized coordinates.
  std::vector<std::int64_t> extents;
  /// What normalized coordinates are moved by, and then multiplied by, an axis each: c becomes scales[a] (c +
  /// shifts[a]). Empty for none. DINOv3 draws them anew for each call of its training: a shift of each axis, a jitter
  /// of each, which is multiplied with the one factor of the rescaling (transformers,
  /// augment_patches_center_coordinates).
  std::vector<double> coordinate_shifts;
  std::vector<double> coordinate_scales;
  LadderShape ladder = LadderShape::falling;  ///< of per_axis and normalized coordinates, else falling

  static const EncodingEntry<RopeNd> entry;
};

/// Number of coordinates of a position.
std::int64_t axes(const RopeNd& encoding);

/// The numbers of the axes as they come in the head.
std::vector<std::int64_t> order_of_axes(const RopeNd& encoding);

/// The axis whose coordinate turns each pair, in the order of the pairs.
std::vector<std::int64_t> axis_of_pairs(const RopeNd& encoding);

/// The k for which 2^k times the axis' shift is whole, the least from 0 on.
int shift_bits(const RopeNd& encoding, std::int64_t axis);

/// The integer that the frequencies of ladders_of multiply: p, or 2^k (2p + 1 - extent + shift extent), k being
/// shift_bits, without the 1 for where patches begin.
std::int64_t counted(const RopeNd& encoding, std::int64_t axis, std::int64_t coordinate);

/// Where the frequencies of the pairs come from: one ladder, or one for each axis.
Ladders ladders_of(const RopeNd& encoding);

}  // namespace sextant
