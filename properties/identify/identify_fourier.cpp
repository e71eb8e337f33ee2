#include <fmt/format.h>

#include <vector>

#include "lib/spec/of.hpp"
#include "properties/identify/fitted_answers.hpp"
#include "properties/identify/identify_lookups.hpp"

namespace sextant::identify {
namespace {

// The claim first, then it with another unit, order, first function or end of the coordinates.
std::vector<Fourier> tries(const Fourier& claimed) {
  std::vector<Fourier> list{claimed};
  const auto with = [&](auto Fourier::*field, auto value) {
    Fourier& tried = list.emplace_back(claimed);
    tried.*field = value;
  };
  for (const AngleUnit unit : {AngleUnit::radian, AngleUnit::half_turn, AngleUnit::turn})
    with(&Fourier::angle_unit, unit);
  for (const First first : {First::sin, First::cos}) with(&Fourier::first, first);
  using enum FourierOrder;
  for (const FourierOrder order :
       {frequency_function_axis, frequency_axis_function, function_axis_frequency, function_frequency_axis,
        axis_frequency_function, axis_function_frequency, function_frequency, frequency_function})
    with(&Fourier::channel_order, order);
  // Without the coordinates rows are of another width, which is told before anything is asked.
  if (claimed.identity != Identity::none) {
    for (const Identity end : {Identity::first, Identity::last}) with(&Fourier::identity, end);
  }
  for (const FourierCoordinates coordinates :
       {FourierCoordinates::index, FourierCoordinates::centres, FourierCoordinates::ends})
    with(&Fourier::coordinates, coordinates);
  if (claimed.ladder != FrequencyLadder::weight) {
    for (const double step : {1.0, -1.0}) {
      Fourier& tried = list.emplace_back(claimed);
      tried.lowest += step;
      tried.highest += step;
      with(&Fourier::highest, claimed.highest + step);
    }
    for (const FrequencyLadder ladder : {FrequencyLadder::powers_of_two, FrequencyLadder::linear})
      with(&Fourier::ladder, ladder);
  }
  return list;
}

}  // namespace

Identification identify_fourier(CountedSession& session, const Spec& claim, const Fourier& features) {
  Identification found;
  for (const Fourier& tried : tries(features)) {
    Spec spec = claim;
    spec.encoding = tried;
    try {
      validate(spec);
    } catch (const SpecError&) {
      continue;
    }
    const FittedAnswers fitted = fitted_answers(session, spec);
    if (!fitted.hold || fitted.spec.accuracy != claim.accuracy || fitted.spec.evaluation != claim.evaluation) continue;
    // Others were not asked about.
    found.spec = fitted.spec;
    found.confidence = Confidence::medium;
    found.of_bound = fitted.of_bound;
    break;
  }
  if (!found.spec) found.table.emplace_back("no unit, order or end of the features was found that the answers have");
  found.calls = session.calls();
  return found;
}

}  // namespace sextant::identify
