#pragma once

#include <cstdint>

#include "lib/spec/entry.hpp"

namespace sextant {

/// The distance that keys after the query have where no bucket is theirs: 0, or their own.
enum class LaterKeys { at_zero, mirrored };

/// Which distances share a bucket.
///   t5       half of a direction's buckets have a distance each, logarithmic ones follow up to max_distance
///   log      so do half of a direction's in DeBERTa-v2, -v3 and SEW-D (He et al. 2021, arXiv 2006.03654, as released:
///            make_log_bucket_position), whose logarithmic ones are rounded up
///   clipped  each distance has one, up to the last of its direction (Shaw et al. 2018, arXiv 1803.02155; DeBERTa)
enum class BucketRule { t5, log, clipped };

/// Raffel et al. 2019 (arXiv 1910.10683), section 2.1: the score of query q and key k in head h gains weight[bucket(k -
/// q), h], `weight` being [num_buckets, heads]. The buckets are those of the released code (mesh_tensorflow's
/// _relative_position_bucket). With B the buckets of one direction and E = floor(B/2), a distance n has
///   n                                                                     for n < E,
///   min(B - 1, E + floor(ln(n/E) / ln(max_distance/E) * (B - E)))         for n >= E.
/// Bidirectional: B = num_buckets/2, n = |k - q|, and keys after the query have B more. Otherwise B = num_buckets and
/// n = max(q - k, 0), or, with mirrored later_keys, n = |k - q|, as in ONNX Runtime's RelativePositionBias.
///
/// By the other rules a table has S = num_buckets/2 rows before that of distance 0, which is row S, and the key n
/// tokens before the query has row min(S + e(n), 2S - 1), the one n behind it row S - e(n). Row 0 is met by keys behind
/// the query alone. With M = S/2,
///   log      e(n) = n                                                             for n <= M,
///            e(n) = M + ceil(ln(n/M) / ln((max_distance - 1)/M) * (M - 1))        for M < n < max_distance,
///            e(n) = S                                                             for n >= max_distance;
///   clipped  e(n) = min(n, S), and max_distance is S.
struct RelativeBias {
  std::int64_t num_buckets = 32;
  std::int64_t max_distance = 128;
  bool bidirectional = true;
  LaterKeys later_keys = LaterKeys::at_zero;
  BucketRule buckets = BucketRule::t5;  ///< log and clipped are bidirectional

  static const EncodingEntry<RelativeBias> entry;
};

/// Buckets of one direction: B above, or S.
std::int64_t directed_buckets(const RelativeBias& encoding);

}  // namespace sextant
