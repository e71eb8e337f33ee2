#pragma once

#include <string>
#include <vector>

#include "reports/report.hpp"

namespace sextant {

/// What a newer report has lost against an older one, one line each; empty if nothing. Both are of one spec. A
/// regression is: a property that is now violated, failed in, undecided, or no longer judged; a worst deviation from
/// the bound, or in ULPs, that grew by more than a hundredth of the bound; a horizon that came nearer; a claim of a
/// weaker class; a weaker measured class. Advice counts where either report is strict. Times are not compared.
///
/// A worst deviation is compared where both reports asked the same: profile, seed and amount; and of a property that
/// holds in both, unless another that was violated holds now: what code came to that was wrong elsewhere is no measure
/// of the code that mends it.
struct Comparison {
  std::vector<std::string> regressions;
  std::vector<std::string> improvements;
  std::vector<std::string> notes;  ///< what was not compared, and why
};
Comparison compare(const Report& older, const Report& newer);

/// Why two reports cannot be compared: other specs but for the class claimed; nothing if they can.
std::string why_incomparable(const Report& older, const Report& newer);

/// `newer` as the next baseline: for every property whichever of the two has the lower ceiling, so that baselines only
/// tighten. Where worst deviations are not compared, those of `newer`.
Report tightened(const Report& older, const Report& newer);

}  // namespace sextant
