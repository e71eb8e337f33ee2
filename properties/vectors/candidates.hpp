#pragma once

#include <cstdint>
#include <vector>

#include "properties/vectors/asked.hpp"

namespace sextant::vectors {

/// About how much an ask takes: values of its answer that are judged; of attention, products.
std::int64_t size_of(const EncodingModel& model, const Ask& ask);

/// What is tried, in this order: a prompt and its steps, the positions that break things, gradients, then what the
/// model asks first, the smallest before the others.
std::vector<Ask> candidates(const EncodingModel& model);

/// Calls that are asked one after the other: what a session keeps shows in a later one.
std::vector<std::vector<Ask>> sequences(const EncodingModel& model);

}  // namespace sextant::vectors
