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

// Of an angle p w: none where p is 0 or a power of two, since such a product is exact in every format; else its own,
// and that of a position which the format does not hold.
int roundings(double position, double roundoff) {
  int exponent = 0;
  if (position == 0 || std::fabs(std::frexp(position, &exponent)) == 0.5) return 0;
  return std::fabs(position) * roundoff > 1 ? 2 : 1;
}

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
    // No frequency in use is above a radian per position: half a turn is more. One of half a turn and more, as a scale
    // of angles may make it, is not told.
    MeasuredFrequency found{claimed[i], claimed[i], std::numbers::pi - claimed[i]};
    for (std::size_t at = 1; at < rows.size(); ++at) {
      const auto there = static_cast<double>(positions[at]);
      const double step = there - start;
      const double angles =
          (roundings(start, roundoff) * std::fabs(start) + roundings(there, roundoff) * std::fabs(there)) * claimed[i];
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
        found.is_told = true;
      }
    }
    list.push_back(found);
  }
  return list;
}

std::vector<std::int64_t> measuring_positions(std::int64_t position, std::int64_t end) {
  std::vector<std::int64_t> list{position};
  constexpr std::int64_t longest = std::int64_t{1} << 20;
  for (std::int64_t step = 1; step < end - position && step <= longest; step *= 2) list.push_back(position + step);
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

namespace {

// "pair 37's 3.02 +- 0.5 ULP above".
std::string off_text(std::size_t pair, const MeasuredFrequency& one, double radians) {
  const double unit = ulp(Dtype::float32, one.claimed);
  return fmt::format("pair {}'s {:.3g} +- {:.2g} ULP {}", pair, std::fabs(one.measured - radians) / unit,
                     one.ulps_uncertain(), one.measured > radians ? "above" : "below");
}

// The pairs whose frequency is none of the recipe's.
std::vector<std::size_t> misfits(const std::vector<MeasuredFrequency>& frequencies, const RecipeList& recipe) {
  std::vector<std::size_t> pairs;
  for (std::size_t i = 0; i < frequencies.size(); ++i) {
    if (!(std::fabs(frequencies[i].measured - recipe.radians.at(i)) <= frequencies[i].uncertainty)) pairs.push_back(i);
  }
  return pairs;
}

// How far the frequency that is furthest from the recipe's certainly is, in ULP.
double beyond(const std::vector<MeasuredFrequency>& frequencies, const RecipeList& recipe) {
  double most = 0;
  for (std::size_t i = 0; i < frequencies.size(); ++i) {
    const MeasuredFrequency& one = frequencies[i];
    const double off = std::fabs(one.measured - recipe.radians.at(i)) - one.uncertainty;
    most = std::max(most, off / ulp(Dtype::float32, one.claimed));
  }
  return most;
}

// Of the recipes those that fit; else the one that does but for an eighth of its pairs; else the nearest.
std::string recipes_text(const std::vector<MeasuredFrequency>& frequencies, const std::vector<RecipeList>& recipes) {
  if (recipes.empty()) return {};
  std::vector<std::string_view> fitting;
  const RecipeList* almost = nullptr;
  std::vector<std::size_t> off;
  for (const RecipeList& recipe : recipes) {
    const std::vector<std::size_t> found = misfits(frequencies, recipe);
    if (found.empty()) fitting.push_back(recipe.recipe);
    if (found.size() <= frequencies.size() / 8 && (!almost || found.size() < off.size())) {
      almost = &recipe;
      off = found;
    }
  }
  if (!fitting.empty())
    return fmt::format("; the frequencies are those of recipe:{}", fmt::join(fitting, " or recipe:"));
  if (!almost) {
    const auto distance = [&](const RecipeList& recipe) { return beyond(frequencies, recipe); };
    const auto nearest = std::ranges::min_element(recipes, {}, distance);
    const double most = distance(*nearest);
    // Lists that differ by more are made of something else than roundings.
    constexpr double likely = 16;
    if (!(most <= likely)) return "; the frequencies are those of no known recipe";
    return fmt::format("; the frequencies are those of no known recipe, but within {:.1f} ULP of recipe:{}'s",
                       std::ceil(10 * most) / 10, nearest->recipe);
  }
  constexpr std::size_t most_told = 3;
  std::vector<std::string> told;
  for (std::size_t i = 0; i < std::min(off.size(), most_told); ++i)
    told.push_back(off_text(off[i], frequencies[off[i]], almost->radians[off[i]]));
  if (off.size() > most_told) told.push_back(fmt::format("{} more", off.size() - most_told));
  return fmt::format("; the frequencies are those of recipe:{} but for {}", almost->recipe, fmt::join(told, ", "));
}

}  // namespace

bool keeps_length(const PairValues& here, const PairValues& there) {
  const double before = std::hypot(here.sin, here.cos);
  const double after = std::hypot(there.sin, there.cos);
  return !(std::fabs(after - before) > std::max(before, after) / 32);
}

std::string unturned_text(const Rows& rows) {
  std::size_t unturned = 0;
  const std::size_t count = rows.front().size();
  for (std::size_t i = 0; i < count; ++i) {
    const auto is_kept = [&](const auto& row) { return keeps_length(rows.front()[i], row[i]); };
    unturned += std::ranges::all_of(rows, is_kept) ? 0 : 1;
  }
  if (unturned == 0) return {};
  return fmt::format(
      "{} of {} pairs change their length: their channels do not turn together, and what two positions show is "
      "no frequency",
      unturned, count);
}

std::string frequencies_text(const std::vector<MeasuredFrequency>& frequencies,
                             const std::vector<RecipeList>& recipes) {
  const auto certainly_off = [](const MeasuredFrequency& one) { return std::fabs(one.ulps()) - one.ulps_uncertain(); };
  const auto worst = std::ranges::max_element(frequencies, {}, certainly_off);
  if (worst == frequencies.end()) return {};
  const auto pair = static_cast<std::size_t>(worst - frequencies.begin());
  constexpr double small = 1e-3;
  const std::string text =
      !(certainly_off(*worst) > 0)
          ? std::string("over all positions no frequency is off by more than its phases leave open")
      : std::fabs(worst->measured - worst->claimed) > small * worst->claimed
          ? fmt::format("furthest off is pair {}'s, {:.5g} times the claimed one", pair,
                        worst->measured / worst->claimed)
          : fmt::format("furthest off in ULP of float32 is {}", off_text(pair, *worst, worst->claimed));
  return text + recipes_text(frequencies, recipes);
}

}  // namespace sextant
