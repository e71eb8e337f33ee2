#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lib/spec/of.hpp"
#include "properties/identify/biases/identify_lookups.hpp"
#include "properties/identify/codes/fourier_rows.hpp"
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

Spec claim_with(const Spec& claim, const Fourier& features) {
  Spec spec = claim;
  spec.encoding = features;
  return spec;
}

// The claim at positions that lose their fraction, or are rounded to a format.
void add_positions(std::vector<OtherReading>& list, const Spec& claim, const Fourier& features) {
  struct OtherPositions {
    const char* words;
    double (*taken_for)(double position);
  };
  constexpr OtherPositions other_positions[] = {
      {"positions are rounded down to whole numbers", [](double p) { return std::floor(p); }},
      {"positions are cut off to whole numbers", [](double p) { return std::trunc(p); }},
      {"positions are rounded to whole numbers", [](double p) { return std::nearbyint(p); }},
      {"positions are rounded to float32", [](double p) { return round_to(Dtype::float32, p); }},
      {"positions are rounded to float16", [](double p) { return round_to(Dtype::float16, p); }},
      {"positions are rounded to bfloat16", [](double p) { return round_to(Dtype::bfloat16, p); }},
  };
  for (const OtherPositions& other : other_positions) {
    const auto taken_for = [step = features.positions.step, of = other.taken_for](std::int64_t axis,
                                                                                  std::span<const std::int64_t> place) {
      return static_cast<std::int64_t>(of(static_cast<double>(place[static_cast<std::size_t>(axis)]) * step) / step);
    };
    list.push_back({other.words, DiagnosedStage::position, claim, {.positions = taken_for}});
  }
}

// With coordinates of cells' corners, 2p/e - 1, which are the ends of a grid of one cell more; and with those between 0
// and 1, (c + 1)/2, which are the second half of a grid's of twice the cells.
void add_coordinates(std::vector<OtherReading>& list, const Spec& claim, const Fourier& features) {
  if (features.coordinates == FourierCoordinates::index) return;
  Fourier corners = features;
  corners.coordinates = FourierCoordinates::ends;
  for (std::int64_t& extent : corners.extents) ++extent;
  list.push_back({fmt::format("coordinates are those of cells' corners, 2p/e - 1, not of their {}",
                              features.coordinates == FourierCoordinates::centres ? "centres" : "ends"),
                  DiagnosedStage::position, claim_with(claim, corners)});
  Fourier doubled = features;
  const std::int64_t beside = features.coordinates == FourierCoordinates::ends ? 1 : 0;
  for (std::int64_t& extent : doubled.extents) extent = 2 * (extent - beside) + beside;
  const auto steps = static_cast<std::int64_t>(1 / features.positions.step);
  list.push_back({"coordinates run from 0 to 1, not from -1 to 1",
                  DiagnosedStage::position,
                  claim_with(claim, doubled),
                  {.positions = [extents = features.extents, beside, steps](std::int64_t axis,
                                                                            std::span<const std::int64_t> place) {
                    const auto at = static_cast<std::size_t>(axis);
                    return place[at] + (extents[at] - beside) * steps;
                  }}});
}

// With another weight than the one given, [axes, bands].
void add_weights(std::vector<OtherReading>& list, const Spec& claim, const Fourier& features) {
  if (!is_given(features)) return;
  const auto add = [&](std::string words, const auto& taken_from) {
    list.push_back({std::move(words), DiagnosedStage::frequency, claim, {.weight = [taken_from](const Tensor& weight) {
                      Tensor other = weight;
                      for (std::int64_t i = 0; i < weight.elements(); ++i) other.set(i, taken_from(weight, i));
                      return other;
                    }}});
  };
  for (const Dtype dtype : {Dtype::float16, Dtype::bfloat16}) {
    add(fmt::format("the weight is rounded to {}", name_of(dtype)),
        [dtype](const Tensor& weight, std::int64_t i) { return round_to(dtype, weight.at(i)); });
  }
  if (features.axes == 1) return;
  add("the weight is read as [bands, axes], not as [axes, bands]", [](const Tensor& weight, std::int64_t i) {
    const std::int64_t bands = weight.shape[1];
    return weight.at(i % bands * weight.shape[0] + i / bands);
  });
  add("the weight's transpose is read as [axes, bands]", [](const Tensor& weight, std::int64_t i) {
    const std::int64_t rows = weight.shape[0];
    return weight.at(i % rows * weight.shape[1] + i / rows);
  });
  add("the weight's rows are read in reverse: the last axis has the first one's",
      [](const Tensor& weight, std::int64_t i) {
        const std::int64_t bands = weight.shape[1];
        return weight.at((weight.shape[0] - 1 - i / bands) * bands + i % bands);
      });
  add("the weight's first row stands for all axes",
      [](const Tensor& weight, std::int64_t i) { return weight.at(i % weight.shape[1]); });
}

// With pi of a few digits: angles in radians of frequencies times it.
void add_pi(std::vector<OtherReading>& list, const Spec& claim, const Fourier& features) {
  if (is_given(features) || features.angle_unit == AngleUnit::radian) return;
  for (const auto& [text, pi] : {std::pair{"3.14", 3.14}, std::pair{"3.1416", 3.1416}, std::pair{"3.14159", 3.14159},
                                 std::pair{"22/7", 22.0 / 7}}) {
    Fourier tried = features;
    const double unit = features.angle_unit == AngleUnit::turn ? 2 * pi : pi;
    tried.angle_unit = AngleUnit::radian;
    const auto times = [&](double end) {
      return features.ladder == FrequencyLadder::linear ? end * unit : end + std::log2(unit);
    };
    tried.lowest = times(features.lowest);
    tried.highest = times(features.highest);
    list.push_back({fmt::format("pi is taken for {}", text), DiagnosedStage::frequency, claim_with(claim, tried)});
  }
}

// Without the coordinates, where their channels are 0 at the row's end.
void add_no_identity(std::vector<OtherReading>& list, const Spec& claim, const Fourier& features) {
  if (features.identity == Identity::none) return;
  Fourier tried = features;
  tried.identity = Identity::none;
  const auto filled = [all = width(features), left = width(tried)](const Tensor& answer) -> std::optional<Tensor> {
    Tensor made = Tensor::zeros(answer.dtype, {answer.elements() / all, left});
    for (std::int64_t i = 0; i < answer.elements(); ++i) {
      if (i % all < left)
        made.set(i / all * left + i % all, answer.at(i));
      else if (answer.at(i) != 0)
        return std::nullopt;
    }
    return made;
  };
  list.push_back({"the coordinates are left out of the row, whose end is 0",
                  DiagnosedStage::table,
                  claim_with(claim, tried),
                  {.answer = filled}});
}

// Whether every band has a frequency of its own list: each is judged as a row of one band.
bool have_band_frequencies(const AskedAnswers& asked, const Spec& claim, const Fourier& features,
                           const std::function<double(double frequency)>& other) {
  const bool is_linear = features.ladder == FrequencyLadder::linear;
  const double steps = std::max(1.0, static_cast<double>(features.bands - 1));
  for (std::int64_t band = 0; band < features.bands; ++band) {
    const double at = features.lowest + (features.highest - features.lowest) * static_cast<double>(band) / steps;
    const double frequency = other(is_linear ? at : std::exp2(at));
    Fourier one = features;
    one.bands = 1;
    one.identity = Identity::none;
    one.lowest = one.highest = is_linear ? frequency : std::log2(frequency);
    const auto of_band = [&](const Tensor& answer) {
      Tensor made = Tensor::zeros(answer.dtype, {answer.shape[0], width(one)});
      for (std::int64_t row = 0; row < answer.shape[0]; ++row) {
        for (std::int64_t axis = 0; axis < features.axes; ++axis) {
          const Channels from = channels_of(features, axis, band);
          const Channels to = channels_of(one, axis, 0);
          made.set(row * width(one) + to.first, answer.at(row * width(features) + from.first));
          made.set(row * width(one) + to.second, answer.at(row * width(features) + from.second));
        }
      }
      return std::optional(std::move(made));
    };
    const OtherReading formula{"", DiagnosedStage::frequency, claim_with(claim, one), {.answer = of_band}};
    if (first_reading(asked, {formula}) == nullptr) return false;
  }
  return true;
}

// Whether any frequency is another one, by more than float32 rounds it.
bool are_changed(const Fourier& features, double (*other)(double frequency)) {
  const double steps = std::max(1.0, static_cast<double>(features.bands - 1));
  for (std::int64_t band = 0; band < features.bands; ++band) {
    const double at = features.lowest + (features.highest - features.lowest) * static_cast<double>(band) / steps;
    const double own = features.ladder == FrequencyLadder::linear ? at : std::exp2(at);
    if (std::fabs(other(own) - own) > 0x1p-20 * std::fabs(own)) return true;
  }
  return false;
}

const char* words_of_bands(const AskedAnswers& asked, const Spec& claim, const Fourier& features) {
  if (is_given(features)) return nullptr;
  struct OtherFrequencies {
    const char* words;
    double (*of)(double frequency);
  };
  constexpr OtherFrequencies list[] = {
      {"exponents are rounded to whole numbers", [](double f) { return std::exp2(std::nearbyint(std::log2(f))); }},
      {"exponents are rounded down to whole numbers", [](double f) { return std::exp2(std::floor(std::log2(f))); }},
      {"frequencies are rounded to float16", [](double f) { return round_to(Dtype::float16, f); }},
      {"frequencies are rounded to bfloat16", [](double f) { return round_to(Dtype::bfloat16, f); }},
  };
  for (const OtherFrequencies& tried : list) {
    if (!are_changed(features, tried.of)) continue;
    if (have_band_frequencies(asked, claim, features, tried.of)) return tried.words;
  }
  return nullptr;
}

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
  const auto blame = [&](std::string words, DiagnosedStage stage) {
    found.spec = claim;
    found.confidence = Confidence::low;
    found.faults.emplace_back(std::move(words), stage);
  };
  if (!found.spec) {
    std::vector<OtherReading> formulas;
    for (auto* add : {&add_positions, &add_coordinates, &add_weights, &add_pi, &add_no_identity})
      add(formulas, claim, features);
    if (const OtherReading* one = first_reading(asked, formulas)) blame(one->words, one->stage);
  }
  if (!found.spec) {
    if (const char* words = words_of_bands(asked, claim, features)) blame(words, DiagnosedStage::frequency);
  }
  if (!found.spec) {
    if (std::string words = words_of_fourier_rows(asked, claim, features); !words.empty())
      blame(std::move(words), DiagnosedStage::table);
  }
  // Else the claim in a laxer class.
  if (!found.spec) {
    const FittedAnswers fitted = fitted_answers(session, claim);
    if (fitted.hold) {
      found.spec = fitted.spec;
      found.of_bound = fitted.of_bound;
      found.confidence = Confidence::medium;
    }
  }
  if (!found.spec) found.table.emplace_back("no unit, order or end of the features was found that the answers have");
  found.calls = session.calls();
  return found;
}

}  // namespace sextant::identify
