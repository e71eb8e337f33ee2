#pragma once

#include "reports/compare.hpp"

namespace sextant {

/// One line for each regression and improvement, or "no regression".
void print_comparison(const Comparison& comparison);

}  // namespace sextant
