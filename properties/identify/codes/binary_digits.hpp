#pragma once

#include <span>
#include <string>

#include "lib/spec/spec.hpp"
#include "properties/identify/codes/axis_formulas.hpp"

namespace sextant::identify {

/// Which digits of positions the channels of a binary code have and what stands for 0 and 1, where that explains every
/// row: "channels 8 to 16 have the digit 1 before their own". Empty where rows are as claimed or as nothing that is
/// tried, and of other encodings.
std::string words_of_digits(const Spec& claim, std::span<const CodeRow> rows);

}  // namespace sextant::identify
