#pragma once

#include <memory>

#include "lib/spec/spec.hpp"
#include "properties/model/encoded_pairs.hpp"

namespace sextant {

/// The pairs of rope, asked with (1, 0) in each: (sin, cos) times the attention factor.
std::unique_ptr<EncodedPairs> make_rope_pairs(const Spec& spec, const Rope& encoding);

/// Those of a table of its sines and cosines, which has one length, the claim's max_position.
std::unique_ptr<EncodedPairs> make_table_pairs(const Spec& spec, const Rope& encoding);

}  // namespace sextant
