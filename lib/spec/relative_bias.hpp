#pragma once

#include <cstdint>

#include "lib/spec/entry.hpp"

namespace sextant {

/// The distance that keys after the query have where no bucket is theirs: 0, or their own.
enum class LaterKeys { at_zero, mirrored };

/// Raffel et al. 2019 (arXiv 1910.10683), section 2.1: the score of query q and key k in head h gains weight[bucket(k -
/// q), h], `weight` being [num_buckets, heads]. The buckets are those of the released code (mesh_tensorflow's
/// _relative_position_bucket). With B the buckets of one direction and E = floor(B/2), a distance n has
///   n                                                                     for n < E,
///   min(B - 1, E + floor(ln(n/E) / ln(max_distance/E) * (B - E)))         for n >= E.
/// Bidirectional: B = num_buckets/2, n = |k - q|, and keys after the query have B more. Otherwise B = num_buckets and
/// n = max(q - k, 0), or, with mirrored later_keys, n = |k - q|, as in ONNX Runtime's RelativePositionBias.
struct RelativeBias {
  std::int64_t num_buckets = 32;
  std::int64_t max_distance = 128;
  bool bidirectional = true;
  LaterKeys later_keys = LaterKeys::at_zero;

  static const EncodingEntry<RelativeBias> entry;
};

/// Buckets of one direction: B above.
std::int64_t directed_buckets(const RelativeBias& encoding);

}  // namespace sextant
