#pragma once

#include <string>
#include <vector>

#include "reports/report.hpp"

namespace sextant {

/// Whether a worst error that grew below its bound is a note, or a regression.
enum class Drift { noted, refused };

/// Whether what the newer report has not judged was dropped, or left out on purpose (--only, --skip).
enum class Unjudged { dropped, left_out };

struct CompareOptions {
  Drift drift = Drift::noted;
  Unjudged unjudged = Unjudged::dropped;
};

/// What a newer report has lost against an older one, one line each; empty if nothing. Both are of one spec. Unchanged
/// code loses nothing, whatever seed, profile and amount the two were asked with. A regression is: a property that is
/// now violated, failed in, undecided, or dropped; an error beyond its bound that grew by more than a hundredth of it;
/// a horizon that came nearer; a claim of a weaker class; a weaker measured class; another cause of what is violated
/// than it had, unless it is a part of that one. Advice counts where either report is strict. Times are not compared.
///
/// What depends on the cases that were drawn is compared where both reports asked the same (profile, seed and amount):
/// worst errors, causes, and horizons of properties that no sweep compared at every position. A property that held and
/// is now violated beyond the horizon that accuracy had in the older report is a note: nothing was right there. So is a
/// law without a horizon, where accuracy was violated. Worst errors of properties that hold are not compared where
/// another that was violated holds now: what code came to that was wrong elsewhere is no measure of the code that mends
/// it.
struct Comparison {
  std::vector<std::string> regressions;
  std::vector<std::string> improvements;
  std::vector<std::string> notes;     ///< what was not compared, and why
  std::vector<std::string> warnings;  ///< what was asked for and could not be compared
};
Comparison compare(const Report& older, const Report& newer, const CompareOptions& options = {});

/// Why two reports cannot be compared: other specs but for the class claimed; nothing if they can.
std::string why_incomparable(const Report& older, const Report& newer);

/// `newer` as the next baseline: for every property whichever of the two has the lower ceiling, so that baselines only
/// tighten. Where worst deviations are not compared, those of `newer`.
Report tightened(const Report& older, const Report& newer);

}  // namespace sextant
