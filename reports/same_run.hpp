#pragma once

#include <optional>
#include <string>

#include "reports/report.hpp"

namespace sextant {

/// In what two reports show that they are not of one run, in words that follow "of different": "seeds: 1 and 2";
/// nothing if versions of Sextant, subjects, specs, profiles, seeds, strictness and command lines are the same. Shards,
/// results, environment and times are not looked at.
std::optional<std::string> difference_of_runs(const Report& one, const Report& other);

}  // namespace sextant
