#pragma once

#include <cstdint>
#include <vector>

#include "lib/spec/entry.hpp"
#include "lib/spec/rope.hpp"

namespace sextant {

/// How the axes share the frequencies: the first sections[0] pairs are axis 0's, the next sections[1] axis 1's
/// (Qwen2-VL); or pair i is axis i mod axes's while that axis has pairs left, and axis 0's afterwards (Qwen3-VL).
enum class SectionOrder { blocked, interleaved };

/// Rotary encoding of a position with several coordinates; M-RoPE, Wang et al. 2024 (Qwen2-VL, arXiv 2409.12191),
/// section 2.1: one list of frequencies w_i = rope_theta^(-2i/head_dim), and pair i turns by w_i p_a, a the axis that
/// its section names. Axial rotation over any number of axes has the same form. sections holds each axis's number of
/// pairs, together head_dim/2. Positions are [axes, batch, n].
struct RopeNd {
  std::int64_t head_dim = 0;
  std::vector<std::int64_t> sections;
  SectionOrder section_order = SectionOrder::blocked;
  double rope_theta = 10000;
  Pairing pairing = Pairing::half;

  static const EncodingEntry<RopeNd> entry;
};

/// Number of frequencies: head_dim/2.
std::int64_t pairs(const RopeNd& encoding);

/// Number of coordinates of a position.
std::int64_t axes(const RopeNd& encoding);

/// The axis whose coordinate turns each pair, in the order of the pairs.
std::vector<std::int64_t> axis_of_pairs(const RopeNd& encoding);

/// The rotary encoding that it is wherever all coordinates are equal: the same frequencies and channels.
Rope along_diagonal(const RopeNd& encoding);

}  // namespace sextant
