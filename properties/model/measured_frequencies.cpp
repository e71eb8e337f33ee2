#include "properties/model/measured_frequencies.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "lib/numeric/ulp.hpp"

namespace sextant {
namespace {

// The steps below are taken in double: the phase over a step is within so many roundoffs of the turned angle.
constexpr double double_roundings = 8;

double turned(const PairValues& from, const PairValues& to) {
  return std::atan2(to.sin * from.cos - to.cos * from.sin, from.cos * to.cos + from.sin * to.sin);
}

}  // namespace

double MeasuredFrequency::ulps() const { return (measured - claimed) / ulp(Dtype::float32, claimed); }
double MeasuredFrequency::ulps_uncertain() const { return uncertainty / ulp(Dtype::float32, claimed); }

std::vector<MeasuredFrequency> measured_frequencies(EncodedPairs& pairs, const ErrorBudget& budget,
                                                    const std::vector<std::int64_t>& positions, const Rows& rows) {
  const double size = pairs.radius(reference::first_precision).lower();
  // A chord e subtends at most e pi/2 times that at the centre; below e = 1/4 less than 1.02 e.
  const double chord = std::numbers::sqrt2 * budget.ulps() * ulp(budget.dtype(), size) / size;
  const double output = 2 * (chord < 0.25 ? 1.02 : std::numbers::pi / 2) * chord;
  const double roundoff = angle_roundoff(budget.accuracy());
  const auto start = static_cast<double>(positions.front());
  std::vector<MeasuredFrequency> list;
  const std::vector<double> claimed = pairs.frequencies(reference::sequence_length(positions));
  for (std::size_t i = 0; i < claimed.size(); ++i) {
    // No frequency in use is above a radian per position: half a turn is more.
    MeasuredFrequency found{claimed[i], claimed[i], std::numbers::pi - claimed[i]};
    for (std::size_t at = 1; at < rows.size(); ++at) {
      const double step = static_cast<double>(positions[at]) - start;
      const double angles = (std::fabs(start) + std::fabs(static_cast<double>(positions[at]))) * claimed[i];
      const double exact = double_roundings * 0x1p-53 * (step * claimed[i] + 1);
      const double uncertainty = output + angles * roundoff + exact;
      // The turns of the step, by what shorter steps have told.
      if (at > 1 && step * found.uncertainty + uncertainty >= std::numbers::pi) break;
      const double residue = std::remainder(
          pairs.orientation() * turned(rows[0][i], rows[at][i]) - found.measured * step, 2 * std::numbers::pi);
      // Not (... <= ...), so that a NaN ends it too.
      if (!(std::fabs(residue) <= step * found.uncertainty + uncertainty)) break;
      if (uncertainty / step < found.uncertainty) {
        found.measured += residue / step;
        found.uncertainty = uncertainty / step;
      }
    }
    list.push_back(found);
  }
  return list;
}

std::vector<std::int64_t> measuring_positions(std::int64_t position, std::int64_t step, std::int64_t end) {
  std::vector<std::int64_t> list{position, position + step};
  constexpr std::int64_t longest = std::int64_t{1} << 20;
  for (std::int64_t power = 1; power < end - position && power <= longest; power *= 2) list.push_back(position + power);
  std::ranges::sort(list);
  list.erase(std::unique(list.begin(), list.end()), list.end());
  return list;
}

std::vector<RecipeList> recipe_lists(const EncodedPairs& pairs, std::int64_t length) {
  std::vector<RecipeList> lists;
  for (const reference::Recipe& recipe : reference::recipes()) {
    std::optional<std::vector<double>> radians = pairs.recipe_radians(recipe, length);
    const auto is_same = [&](const RecipeList& list) { return list.radians == *radians; };
    if (radians && std::ranges::none_of(lists, is_same)) lists.push_back({recipe.name, std::move(*radians)});
  }
  return lists;
}

std::string frequencies_text(const std::vector<MeasuredFrequency>& frequencies,
                             const std::vector<RecipeList>& recipes) {
  const auto beyond = [](const MeasuredFrequency& one) { return std::fabs(one.ulps()) - one.ulps_uncertain(); };
  const auto worst = std::ranges::max_element(frequencies, {}, beyond);
  if (worst == frequencies.end()) return {};
  std::string text = beyond(*worst) > 0
                         ? fmt::format("pair {}: {:.3g} +- {:.2g} ULP of float32 {} the claimed frequency",
                                       worst - frequencies.begin(), std::fabs(worst->ulps()), worst->ulps_uncertain(),
                                       worst->ulps() > 0 ? "above" : "below")
                         : std::string("no frequency is off by more than phases leave open");
  std::vector<std::string_view> fitting;
  for (const RecipeList& recipe : recipes) {
    const bool fits = std::ranges::equal(frequencies, recipe.radians, [](const MeasuredFrequency& one, double radians) {
      return std::fabs(one.measured - radians) <= one.uncertainty;
    });
    if (fits) fitting.push_back(recipe.recipe);
  }
  return text + (fitting.empty() ? "; the list of no known recipe"
                                 : fmt::format("; as in recipe:{}", fmt::join(fitting, ", recipe:")));
}

}  // namespace sextant
