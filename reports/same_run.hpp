#pragma once

#include <optional>
#include <string>

#include "reports/report.hpp"

namespace sextant {

/// In what two reports show that they are not of one run, in words that follow "of different": "seeds: 1 and 2; specs:
/// head_dim 64 and 128", all that differs with both values; nothing if versions of Sextant, subjects, specs, profiles,
/// seeds, strictness and command lines are the same. Command lines are told of where nothing else differs. Shards,
/// results, environment and times are not looked at.
std::optional<std::string> difference_of_runs(const Report& one, const Report& other);

/// "head_dim 64 and 128, dtype none and bfloat16": the fields in which two specs, as JSON, differ; empty for equal
/// ones.
std::string difference_of_specs(const std::string& one, const std::string& other);

}  // namespace sextant
