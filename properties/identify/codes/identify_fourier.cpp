// Over 400 lines: one search, whose readings, of rows and of bands by themselves, share how a band is judged.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lib/spec/of.hpp"
#include "properties/identify/biases/identify_lookups.hpp"
#include "properties/identify/codes/axis_formulas.hpp"
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
  // As of scenes that are taken to lie between -1 and 1.
  const auto unit = static_cast<std::int64_t>(1 / features.positions.step);
  if (features.coordinates != FourierCoordinates::index || unit == 1) return;
  for (const auto& [words, least] : {std::pair{"coordinates are clamped to -1 to 1", -unit},
                                     std::pair{"coordinates are clamped to 0 to 1", std::int64_t{0}}}) {
    list.push_back({words,
                    DiagnosedStage::position,
                    claim,
                    {.positions = [unit, least](std::int64_t axis, std::span<const std::int64_t> place) {
                      return std::clamp(place[static_cast<std::size_t>(axis)], least, unit);
                    }}});
  }
  // (p + 1)/2 is, in half the steps, p + 1.
  Fourier halved = features;
  halved.positions.step /= 2;
  list.push_back({"coordinates are halved and moved to run from 0 to 1, (p + 1) / 2, where the claim has p",
                  DiagnosedStage::position,
                  claim_with(claim, halved),
                  {.positions = [unit](std::int64_t axis, std::span<const std::int64_t> place) {
                    return place[static_cast<std::size_t>(axis)] + unit;
                  }}});
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
  for (const auto& [text, pi] :
       {std::pair{"3.14", 3.14}, std::pair{"3.1416", 3.1416}, std::pair{"3.14159", 3.14159},
        std::pair{"22/7", 22.0 / 7}, std::pair{"3.140625, as float16 and bfloat16 have it", 3.140625}}) {
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

// A band of every axis by itself, as features of one band of that frequency.
OtherReading one_band(const Spec& claim, const Fourier& features, std::int64_t band, double frequency) {
  Fourier one = features;
  one.bands = 1;
  one.identity = Identity::none;
  one.lowest = one.highest = features.ladder == FrequencyLadder::linear ? frequency : std::log2(frequency);
  const auto of_band = [features, one, band](const Tensor& answer) {
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
  return {"", DiagnosedStage::frequency, claim_with(claim, one), {.answer = of_band}};
}

// Whether every band has a frequency of its own list: each is judged as a row of one band.
bool have_band_frequencies(const AskedAnswers& asked, const Spec& claim, const Fourier& features,
                           const std::function<double(double frequency)>& other) {
  for (std::int64_t band = 0; band < features.bands; ++band) {
    const OtherReading formula = one_band(claim, features, band, other(frequency_of_band(features, band)));
    if (first_reading(asked, {formula}) == nullptr) return false;
  }
  return true;
}

// Whether the bound of another claim, which all answers meet, tells a channel's values from their opposites and from
// zeros. What is constant is told from neither by more than its value at position 0.
bool is_told(const AskedAnswers& asked, const Spec& met, std::int64_t channel, std::int64_t channels) {
  std::optional<double> value;
  bool is_constant = true;
  for (std::size_t call = 0; call < asked.calls().size(); ++call) {
    const Tensor& answer = asked.answers()[call];
    const std::vector<std::int64_t>& positions = asked.calls()[call].positions;
    const std::int64_t tokens = answer.elements() / channels;
    for (std::int64_t token = 0; token < tokens; ++token) {
      bool is_at_zero = true;
      for (std::size_t i = static_cast<std::size_t>(token); i < positions.size(); i += static_cast<std::size_t>(tokens))
        is_at_zero = is_at_zero && positions[i] == 0;
      if (is_at_zero) continue;
      const double seen = answer.at(token * channels + channel);
      is_constant = is_constant && seen == value.value_or(seen);
      value = seen;
    }
  }
  if (is_constant) return false;
  return std::ranges::none_of(std::array{-1.0, 0.0}, [&](double factor) {
    return asked
        .meet(met, {.answer =
                        [=](const Tensor& answer) {
                          Tensor changed = answer;
                          for (std::int64_t i = channel; i < answer.elements(); i += channels)
                            changed.set(i, factor * answer.at(i));
                          return std::optional(std::move(changed));
                        }})
        .has_value();
  });
}

// Whether a laxer class that all answers meet says something of every channel: its bound tells the channel's values
// from others, or they are the claim's own near position 0, from the call `early` on. A bound that any value meets says
// nothing of a band that is wrong.
bool says_something(const AskedAnswers& asked, std::size_t early, const Spec& claim, const Fourier& features,
                    const Spec& met) {
  const std::int64_t channels = width(features);
  const auto are_told = [&](std::int64_t channel) { return is_told(asked, met, channel, channels); };
  if (is_given(features)) {
    for (std::int64_t channel = 0; channel < channels; ++channel) {
      if (!are_told(channel)) return false;
    }
    return true;
  }
  for (std::int64_t band = 0; band < features.bands; ++band) {
    OtherReading own = one_band(claim, features, band, frequency_of_band(features, band));
    own.taken.from = early;
    if (first_reading(asked, {own}) != nullptr) continue;
    for (std::int64_t axis = 0; axis < features.axes; ++axis) {
      const Channels at = channels_of(features, axis, band);
      if (!are_told(at.first) || !are_told(at.second)) return false;
    }
  }
  return true;
}

// Whether the channels of coordinates are as claimed: of a row that has none, so.
bool has_own_coordinates(const AskedAnswers& asked, const Spec& claim, const Fourier& features) {
  if (features.identity == Identity::none) return true;
  // Of frequency 0 the bands are 0 and 1, whatever the coordinate.
  Fourier still = features;
  still.ladder = FrequencyLadder::linear;
  still.bands = 1;
  still.lowest = still.highest = 0;
  const auto coordinates = [features, still](const Tensor& answer) {
    Tensor made = Tensor::zeros(answer.dtype, {answer.shape[0], width(still)});
    for (std::int64_t row = 0; row < answer.shape[0]; ++row) {
      for (std::int64_t axis = 0; axis < features.axes; ++axis) {
        const Channels band = channels_of(still, axis, 0);
        made.set(row * width(still) + (still.first == First::sin ? band.second : band.first), 1);
        made.set(row * width(still) + *identity_channel(still, axis),
                 answer.at(row * width(features) + *identity_channel(features, axis)));
      }
    }
    return std::optional(std::move(made));
  };
  return asked.meet(claim_with(claim, still), {.answer = coordinates}).has_value();
}

// "bands 7, 8, 9 are wrong, and the rest is right", each by itself, or what their frequencies are; none where all bands
// are wrong, or none is.
std::optional<Fault> fault_of_wrong_bands(const AskedAnswers& asked, const Spec& claim, const Fourier& features) {
  if (is_given(features)) return std::nullopt;
  std::vector<std::int64_t> wrong;
  for (std::int64_t band = 0; band < features.bands; ++band) {
    const OtherReading own = one_band(claim, features, band, frequency_of_band(features, band));
    if (first_reading(asked, {own}) == nullptr) wrong.push_back(band);
  }
  if (wrong.empty() || std::ssize(wrong) == features.bands || !has_own_coordinates(asked, claim, features))
    return std::nullopt;
  if (std::string words = words_of_bands_alone(asked, claim, features, wrong); !words.empty())
    return Fault(std::move(words), DiagnosedStage::frequency);
  return vague(fmt::format("{} {} {} wrong, and the rest is right", wrong.size() == 1 ? "band" : "bands",
                           fmt::join(wrong, ", "), wrong.size() == 1 ? "is" : "are"),
               DiagnosedStage::frequency);
}

// Calls near position 0 and, of real positions, near 1, where angles are small; on each axis in another order.
void ask_early(AskedAnswers& asked, CountedSession& session, const Spec& claim, const Fourier& features) {
  const auto unit = static_cast<std::int64_t>(1 / features.positions.step);
  std::vector<std::vector<std::int64_t>> lists{{0, 1, 2, 3, 5, -1, -3}};
  if (unit > 1)
    lists.push_back({unit / 4, -unit / 2, unit / 2 + 1, unit - 1, unit + unit / 2 + 1, -unit - 3, -unit / 8});
  const gen::PositionRange range = model_of(claim)->range();
  for (std::vector<std::int64_t>& counts : lists) {
    std::erase_if(counts, [&](std::int64_t count) { return count < range.first || count >= range.last; });
    if (counts.size() < 2) continue;
    std::vector<std::int64_t> positions;
    for (std::int64_t axis = 0; axis < features.axes; ++axis) {
      positions.insert(positions.end(), counts.begin(), counts.end());
      std::ranges::rotate(counts, counts.begin() + 1);
    }
    asked.ask(session, std::move(positions));
  }
}

// Whether any frequency is another one, by more than float32 rounds it.
bool are_changed(const Fourier& features, double (*other)(double frequency)) {
  for (std::int64_t band = 0; band < features.bands; ++band) {
    const double own = frequency_of_band(features, band);
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
  AskedAnswers asked(session, claim);
  const std::size_t early = asked.calls().size();
  if (!asked.meet(claim)) ask_early(asked, session, claim, features);
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
  if (!found.spec && has_own_coordinates(asked, claim, features)) {
    if (std::string words = words_of_axis_formulas(claim, rows_of(asked, claim)); !words.empty())
      blame(std::move(words), DiagnosedStage::position);
  }
  // Else the claim in a laxer class.
  if (!found.spec) {
    const FittedAnswers fitted = fitted_answers(session, claim);
    const bool is_laxer = fitted.hold && fitted.spec.accuracy != claim.accuracy;
    const bool is_met = fitted.hold && asked.meet(fitted.spec).has_value();
    if (is_met && (!is_laxer || says_something(asked, early, claim, features, fitted.spec))) {
      found.spec = fitted.spec;
      found.of_bound = fitted.of_bound;
      found.confidence = Confidence::medium;
    }
  }
  if (!found.spec) {
    if (auto fault = fault_of_wrong_bands(asked, claim, features)) {
      found.spec = claim;
      found.confidence = Confidence::low;
      found.faults.push_back(std::move(*fault));
    }
  }
  if (!found.spec) found.table.emplace_back("no unit, order or end of the features was found that the answers have");
  found.calls = session.calls();
  return found;
}

}  // namespace sextant::identify
