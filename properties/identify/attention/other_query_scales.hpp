#pragma once

#include <cstdint>
#include <vector>

#include "lib/spec/attention.hpp"
#include "properties/identify/attention/other_attention.hpp"

namespace sextant::identify {

/// Positions at which a claimed scale of queries is told from others, rising: both sides of the borders of periods, or
/// of the length from which a logarithm counts, and some between; those below `end`, as many as there are.
std::vector<std::int64_t> positions_about_scale(const QueryScale& scale, std::int64_t end);

/// The unit in which positions are counted by it: a period, or the length from which a logarithm counts. Short of it
/// every scale is 1.
std::int64_t unit_of(const QueryScale& scale);

/// What a query at a position is multiplied by, in double.
double query_scale_at(const QueryScale& scale, std::int64_t position);

/// Attention whose queries have the scales of their indices in the sequence: in whole calls those of their numbers.
OtherAttention scaled_by_index(const QueryScale& scale);

/// Of a step, whose queries all have the scale of the number of keys.
OtherAttention scaled_by_keys(const QueryScale& scale);

/// Adds attention whose queries are scaled otherwise than is claimed. Nothing where no scale is claimed.
void add_other_query_scales(const Attention& claimed, std::vector<OtherAttention>& list);

}  // namespace sextant::identify
