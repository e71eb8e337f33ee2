#pragma once

#include <cstdint>

#include "lib/numeric/tensor.hpp"
#include "lib/spec/spec.hpp"
#include "reference/enclosure.hpp"

namespace sextant::reference {

/// The bucket of a key `relative` = key - query away, Raffel et al. 2019, section 2.1, as lib/spec/relative_bias.hpp
/// states it: the integer of the real-number formula, at the borders between buckets too.
std::int64_t bucket(const RelativeBias& encoding, std::int64_t relative);

/// weight[bucket(key - query), head], exactly. `weight` is [num_buckets, heads]; positions are those of a spec, within
/// +-2^53.
/// @throws std::invalid_argument for a weight of another shape, std::out_of_range unless 0 <= head < heads.
Enclosure bias(const RelativeBias& encoding, const Tensor& weight, std::int64_t query, std::int64_t key,
               std::int64_t head, Precision precision);

}  // namespace sextant::reference
