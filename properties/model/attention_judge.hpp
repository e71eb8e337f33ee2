#pragma once

#include <memory>

#include "lib/spec/spec.hpp"
#include "properties/model/model.hpp"

namespace sextant {

/// Judges answers of attention by its oracle, row by row: of a long call those that are likeliest to be wrong.
std::unique_ptr<Judge> attention_judge(const Spec& spec, const Attention& encoding);

}  // namespace sextant
