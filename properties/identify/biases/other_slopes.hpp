#pragma once

#include <functional>
#include <string>
#include <vector>

#include "lib/spec/spec.hpp"

namespace sextant::identify {

/// What ALiBi's slopes are that no spec has: those of fewer heads, of other ones, rounded otherwise. `claimed_slopes`
/// are the claim's, and `are` says whether slopes, one a head, are those that were seen. Empty where none are.
std::string other_slopes(const Alibi& claimed, const std::vector<double>& claimed_slopes,
                         const std::function<bool(const std::vector<double>& tried)>& are);

}  // namespace sextant::identify
