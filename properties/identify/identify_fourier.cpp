#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "lib/spec/of.hpp"
#include "properties/identify/identify_lookups.hpp"
#include "properties/identify/tried_claims.hpp"

namespace sextant::identify {
namespace {

// The claim with other units, orders, first functions and ends of the coordinates: one of them first, then several.
std::vector<Fourier> other_rows(const Fourier& claimed) {
  using enum FourierOrder;
  constexpr FourierOrder orders[] = {frequency_function_axis, frequency_axis_function, function_axis_frequency,
                                     function_frequency_axis, axis_frequency_function, axis_function_frequency,
                                     function_frequency,      frequency_function};
  // Without the coordinates rows are of another width, which is told before anything is asked.
  std::vector<Identity> ends{claimed.identity};
  if (claimed.identity != Identity::none) ends = {Identity::first, Identity::last};
  std::vector<Fourier> list;
  for (const AngleUnit unit : {AngleUnit::radian, AngleUnit::half_turn, AngleUnit::turn}) {
    for (const First first : {First::sin, First::cos}) {
      for (const FourierOrder order : orders) {
        for (const Identity end : ends) {
          Fourier& tried = list.emplace_back(claimed);
          tried.angle_unit = unit;
          tried.first = first;
          tried.channel_order = order;
          tried.identity = end;
        }
      }
    }
  }
  std::ranges::stable_sort(list, {}, [&](const Fourier& tried) {
    return (tried.angle_unit == claimed.angle_unit ? 0 : 1) + (tried.first == claimed.first ? 0 : 1) +
           (tried.channel_order == claimed.channel_order ? 0 : 1) + (tried.identity == claimed.identity ? 0 : 1);
  });
  return list;
}

// With coordinates of another kind, or divided by other numbers of cells.
std::vector<Fourier> other_coordinates(const Fourier& claimed) {
  std::vector<Fourier> list;
  for (const FourierCoordinates coordinates : {FourierCoordinates::centres, FourierCoordinates::ends})
    list.emplace_back(claimed).coordinates = coordinates;
  Fourier& plain = list.emplace_back(claimed);
  plain.coordinates = FourierCoordinates::index;
  plain.extents.clear();
  if (claimed.extents.empty()) return list;
  std::ranges::reverse(list.emplace_back(claimed).extents);
  for (const std::int64_t extent : {claimed.extents.front(), claimed.extents.back()})
    list.emplace_back(claimed).extents.assign(claimed.extents.size(), extent);
  return list;
}

// With the same number of other frequencies: all times two or half, an end left out, whole exponents, equal steps of
// the frequencies for equal steps of the exponents.
std::vector<Fourier> other_frequencies(const Fourier& claimed) {
  std::vector<Fourier> list;
  if (claimed.ladder == FrequencyLadder::weight) return list;
  const auto between = [&](double lowest, double highest) -> Fourier& {
    Fourier& tried = list.emplace_back(claimed);
    tried.lowest = lowest;
    tried.highest = highest;
    return tried;
  };
  const double lowest = claimed.lowest;
  const double highest = claimed.highest;
  const auto bands = static_cast<double>(claimed.bands);
  for (const double step : {1.0, -1.0}) {
    between(lowest + step, highest + step);
    between(lowest, highest + step);
  }
  between(lowest, highest - (highest - lowest) / bands);
  between(lowest, lowest + bands - 1);
  if (claimed.ladder == FrequencyLadder::linear) {
    for (const double factor : {2.0, 0.5}) between(lowest, factor * highest);
    between(std::log2(lowest), std::log2(highest)).ladder = FrequencyLadder::powers_of_two;
  } else {
    between(std::exp2(lowest), std::exp2(highest)).ladder = FrequencyLadder::linear;
  }
  return list;
}

// The claim at positions that lose their fraction, or are rounded to a narrow format.
struct OtherPositions {
  const char* words;
  double (*taken_for)(double position);
};
constexpr OtherPositions other_positions[] = {
    {"positions are rounded down to whole numbers", [](double p) { return std::floor(p); }},
    {"positions are cut off to whole numbers", [](double p) { return std::trunc(p); }},
    {"positions are rounded to whole numbers", [](double p) { return std::nearbyint(p); }},
    {"positions are rounded to float16", [](double p) { return round_to(Dtype::float16, p); }},
    {"positions are rounded to bfloat16", [](double p) { return round_to(Dtype::bfloat16, p); }},
};

}  // namespace

Identification identify_fourier(CountedSession& session, const Spec& claim, const Fourier& features) {
  Identification found;
  const AskedAnswers asked(session, claim);
  std::vector<TriedClaim> list;
  for (const auto& tries : {other_rows(features), other_coordinates(features), other_frequencies(features)}) {
    for (const Fourier& tried : tries) {
      list.push_back({claim, {}});
      list.back().spec.encoding = tried;
    }
  }
  if (const auto met = first_met(asked, claim, std::move(list))) {
    found.spec = met->claim.spec;
    found.of_bound = met->of_bound;
    // Others were not asked about.
    found.confidence = Confidence::medium;
  }
  if (!found.spec) {
    if (std::string words = other_places(asked, claim); !words.empty()) {
      found.spec = claim;
      found.confidence = Confidence::low;
      found.faults.emplace_back(std::move(words), DiagnosedStage::position);
    }
  }
  for (const OtherPositions& other : other_positions) {
    if (found.spec) break;
    const double step = features.positions.step;
    const auto taken_for = [&](std::int64_t axis, std::span<const std::int64_t> place) {
      const auto count = static_cast<double>(place[static_cast<std::size_t>(axis)]);
      return static_cast<std::int64_t>(other.taken_for(count * step) / step);
    };
    if (!asked.meet(claim, taken_for)) continue;
    found.spec = claim;
    found.confidence = Confidence::low;
    found.faults.emplace_back(other.words, DiagnosedStage::position);
  }
  if (!found.spec) found.table.emplace_back("no unit, order or end of the features was found that the answers have");
  found.calls = session.calls();
  return found;
}

}  // namespace sextant::identify
