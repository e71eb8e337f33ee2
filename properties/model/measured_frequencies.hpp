#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "properties/model/encoded_pairs.hpp"

namespace sextant {

/// What a pair's phases say of its frequency, in radians per position.
struct MeasuredFrequency {
  double claimed;
  double measured;
  double uncertainty;    ///< the implementation's own frequency is so near to `measured`
  bool is_told = false;  ///< whether any phase was: else `measured` is the claimed one, and all below half a turn

  /// How far above the claimed one, in ULP of float32 of it.
  double ulps() const;
  double ulps_uncertain() const;
};

/// The frequencies of a list of positions, from the answers at positions that rise: p_0 and, beyond it, steps of which
/// none is longer than twice the one before and the first is 1. With z_i = cos + i sin of pair i, arg(z(p_0 + s) conj
/// z(p_0)) = w s; a step s tells w to e/s, e what the phase is uncertain by, and so the whole turns over 2 s, while e
/// is below pi/2. e is what the outputs are off by, sqrt(2) k ulp of their norm at either end, and the rounding of two
/// angles and of positions, u |p w| each, none where p is a power of two, whose products are exact. Nothing else is
/// allowed for, so that a pair whose phases are no multiples of one frequency is measured up to where they cease to be.
std::vector<MeasuredFrequency> measured_frequencies(EncodedPairs& pairs, const ErrorBudget& budget,
                                                    const std::vector<std::int64_t>& positions, const Rows& rows);

/// p, p + 1, p + 2, p + 4, ..., p + 2^20, as far as they are below `end`.
std::vector<std::int64_t> measuring_positions(std::int64_t position, std::int64_t end);

/// A recipe's list of frequencies.
struct RecipeList {
  std::string_view recipe;
  std::vector<double> radians;
};

/// Those of every known recipe that has one for this encoding, in calls of `length`; of equal lists the first.
std::vector<RecipeList> recipe_lists(const EncodedPairs& pairs, std::int64_t length);

/// Whether a pair is as long at one position as at another, to a 32nd: one that is not does not turn, and has no
/// frequency.
bool keeps_length(const PairValues& here, const PairValues& there);

/// That pairs do not keep their length from the first row on, "3 of 64 pairs ..."; empty where all do.
std::string unturned_text(const Rows& rows);

/// One line: the frequency that is certainly furthest from the claimed one, "pair 37's 3.02 +- 0.5 ULP above" or, where
/// it is off by more than a thousandth, "pair 37's, 1.5 times the claimed one"; and the recipes whose lists are within
/// the uncertainty in every pair, or the one whose list is but for some pairs.
std::string frequencies_text(const std::vector<MeasuredFrequency>& frequencies, const std::vector<RecipeList>& recipes);

}  // namespace sextant
