#pragma once

#include <cstdint>
#include <optional>

#include "lib/numeric/tensor.hpp"
#include "lib/spec/spec.hpp"
#include "reference/enclosure.hpp"

namespace sextant::reference {

/// The bucket of a key `relative` = key - query away, Raffel et al. 2019, section 2.1, as lib/spec/relative_bias.hpp
/// states it: the integer of the real-number formula, at the borders between buckets too.
std::int64_t bucket(const RelativeBias& encoding, std::int64_t relative);

/// Arithmetic that takes the formula's logarithms: in a format of this unit roundoff, with logarithms that are off by
/// at most `libm` ULP.
struct BucketArithmetic {
  double roundoff;
  double libm;
};

/// The other bucket that such arithmetic may give in place of bucket(encoding, relative), or nothing where it has no
/// choice, which is at nearly all distances (docs/proofs/accuracy-classes.md, step 28). Where the real number of
/// logarithmic steps is no integer, that is the one beyond a border which is nearer than the formula's roundings reach.
/// Where it is one, which a border that is off by one would move, it is only what the released formula gives, each of
/// its operations rounded to nearest, in that format or in float64. Nothing for a roundoff of 0.
std::optional<std::int64_t> bucket_beside(const RelativeBias& encoding, std::int64_t relative,
                                          const BucketArithmetic& arithmetic);

/// weight[bucket(key - query), head], exactly. `weight` is [num_buckets, heads]; positions are those of a spec, within
/// +-2^53.
/// @throws std::invalid_argument for a weight of another shape, std::out_of_range unless 0 <= head < heads.
Enclosure bias(const RelativeBias& encoding, const Tensor& weight, std::int64_t query, std::int64_t key,
               std::int64_t head, Precision precision);

}  // namespace sextant::reference
