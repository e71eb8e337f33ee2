#pragma once

#include <string>

#include "properties/verdict/survey.hpp"

namespace sextant {

// The data behind the pictures, as comma-separated values with a line of names; numbers with all their digits.

/// position, pair, absolute, ulps, of_bound
std::string errors_csv(const ErrorGrid& grid);
/// position, then a column for each curve of the error chart
std::string error_curves_csv(const ErrorGrid& grid);
/// ulps, values, beyond_bound
std::string ulp_bins_csv(const ErrorGrid& grid);
/// position, first, second
std::string components_csv(const CodeMap& map);
/// pair, claimed, measured, their difference in ULPs of float32, the period claimed
std::string frequencies_csv(const FrequencyCurve& curve);
/// position, then a column for each channel
std::string codes_csv(const CodeMap& map);
/// offset, claimed, measured
std::string similarity_csv(const SimilarityCurve& curve);
/// distance, then a column for each line of the bias chart
std::string bias_curves_csv(const BiasMap& map);
/// head, query, key, bias
std::string bias_csv(const BiasMap& map);

}  // namespace sextant
