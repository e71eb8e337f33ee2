#include "properties/survey/take_survey.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <numbers>
#include <optional>
#include <span>

#include "lib/numeric/ulp.hpp"
#include "properties/gen/position.hpp"
#include "properties/model/measured_frequencies.hpp"
#include "properties/model/model.hpp"
#include "properties/model/question.hpp"
#include "properties/survey/row_errors.hpp"
#include "properties/survey/told_stage.hpp"
#include "reference/measures.hpp"
#include "reference/recipe.hpp"
#include "reference/wide_value.hpp"
#include "subjects/operations.hpp"

namespace sextant {
namespace {

using reference::DoubleDoubleWithin;

constexpr std::int64_t most_columns = 64;  // of the error grid
constexpr std::int64_t code_rows = 64;
constexpr std::int64_t most_channels = 128;
constexpr std::int64_t offsets_shown = 256;
constexpr std::size_t aliases_told = 3;

// Positions from the simplest on, 1, 2, 3, 4, 5, 7, 9, 13, 17, ... further, none of them round in binary, where narrow
// types are exact; the claim's last among them.
std::vector<std::int64_t> grid_positions(const Spec& spec) {
  const gen::PositionRange range = gen::range_of(spec);
  const std::int64_t start = gen::simplest_position(range);
  std::vector<std::int64_t> positions{start};
  for (std::int64_t step = 1; step < range.last - start; step *= 2) {
    for (const std::int64_t offset : {step == 1 ? step : step + 1, step + step / 2 + 1}) {
      if (offset < range.last - start) positions.push_back(start + offset);
    }
  }
  positions.push_back(range.last - 1);
  std::ranges::sort(positions);
  positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
  return positions;
}

double radius_of(EncodedPairs& encoded) { return encoded.radius(reference::first_precision).upper(); }

bool is_nearest(Dtype dtype, double value, const DoubleDoubleWithin& truth) {
  const auto nearest = reference::correctly_rounded(dtype, truth.high, truth.low, truth.error);
  return nearest ? *nearest == value : error_of(value, truth) <= 0.5 * ulp(dtype, truth.high) * (1 + 0x1p-20);
}

// Whether every value of a row is within the class.
bool row_within(EncodedPairs& encoded, AccuracyClass accuracy, const ErrorBudget& budget, Dtype dtype,
                const std::vector<PairValues>& row, const EncodedPairs::Truth& truth, double size) {
  for (std::size_t i = 0; i < row.size(); ++i) {
    for (const Component component : {Component::sine, Component::cosine}) {
      const double value = row[i].value(component);
      const DoubleDoubleWithin& exact = truth.value(i, component);
      if (accuracy == AccuracyClass::correctly_rounded
              ? !is_nearest(dtype, value, exact)
              : error_of(value, exact) > encoded.bound(budget, truth, i, component, size))
        return false;
    }
  }
  return true;
}

constexpr std::array classes{AccuracyClass::correctly_rounded, AccuracyClass::faithful,
                             AccuracyClass::exact_angle,       AccuracyClass::pair_norm,
                             AccuracyClass::float32_angle,     AccuracyClass::float32_recurrence,
                             AccuracyClass::float16_angle,     AccuracyClass::bfloat16_angle};

// What a grid's positions were answered with: the first members of pairs, and the second ones of what turns vectors,
// turned back by a quarter so that they are as true as the first.
using MembersOfPairs = std::vector<Rows>;

ErrorGrid grid_of(EncodedPairs& encoded, const Spec& spec, const std::vector<std::int64_t>& positions,
                  const MembersOfPairs& members, const std::vector<EncodedPairs::Truth>& truth) {
  const double size = radius_of(encoded);
  const ErrorBudget budget = encoded.budget(spec.accuracy);
  ErrorGrid grid;
  grid.positions = positions;
  grid.pair_stride = (encoded.count() + most_columns - 1) / most_columns;
  grid.pairs = (encoded.count() + grid.pair_stride - 1) / grid.pair_stride;
  for (std::size_t row = 0; row < positions.size(); ++row) {
    double most_allowed = 0;
    for (std::int64_t column = 0; column < grid.pairs; ++column) {
      const auto i = static_cast<std::size_t>(column * grid.pair_stride);
      double absolute = 0;
      double ulps = 0;
      double of_bound = 0;
      for (const Component component : {Component::sine, Component::cosine}) {
        const DoubleDoubleWithin& exact = truth[row].value(i, component);
        double error = 0;
        for (const Rows& rows : members) error = std::max(error, error_of(rows[row][i].value(component), exact));
        const double bound = encoded.bound(budget, truth[row], i, component, size);
        absolute = std::max(absolute, error);
        ulps = std::max(ulps, error / encoded.unit(exact.high, size));
        of_bound = std::max(of_bound, error / bound);
        most_allowed = std::max(most_allowed, bound);
      }
      grid.absolute.push_back(absolute);
      grid.ulps.push_back(ulps);
      grid.of_bound.push_back(of_bound);
    }
    grid.bound.push_back(most_allowed);
  }
  for (const char* name : {"float32", "float32-running-product", "bfloat16-angle"}) {
    const auto emulated = encoded.emulate(reference::recipe_named(name), positions);
    if (!emulated) continue;
    RecipeCurve& curve = grid.recipes.emplace_back(RecipeCurve{name, {}});
    for (std::size_t row = 0; row < positions.size(); ++row) {
      double worst = 0;
      for (std::size_t i = 0; i < (*emulated)[row].size(); ++i) {
        worst = std::max({worst, error_of((*emulated)[row][i].sin, truth[row].sin[i]),
                          error_of((*emulated)[row][i].cos, truth[row].cos[i])});
      }
      curve.absolute.push_back(worst);
    }
  }
  return grid;
}

FrequencyCurve frequencies_of(Session& session, EncodedPairs& encoded, const Spec& spec) {
  const std::vector<std::int64_t> positions =
      measuring_positions(gen::simplest_position(gen::range_of(spec)), spec.max_position);
  const Rows rows = encoded.ask(session, positions);
  FrequencyCurve curve;
  for (const MeasuredFrequency& one : measured_frequencies(encoded, encoded.budget(spec.accuracy), positions, rows)) {
    curve.claimed.push_back(one.claimed);
    curve.measured.push_back(one.is_told ? one.measured : std::nan(""));
  }
  return curve;
}

SimilarityCurve similarity_of(Session& session, EncodedPairs& encoded, const Spec& spec) {
  const gen::PositionRange range = gen::range_of(spec);
  SimilarityCurve curve;
  // Position 1000, where there is one, as such pictures are usually drawn.
  curve.anchor = range.first <= 1000 && range.last > 1000 + offsets_shown ? 1000 : gen::simplest_position(range);
  const std::int64_t count = std::min(offsets_shown, range.last - curve.anchor);
  const std::vector<std::int64_t> positions = gen::consecutive(curve.anchor, count);
  const Rows rows = encoded.ask(session, positions);
  const std::vector<double> w = encoded.frequencies(reference::sequence_length(positions));
  const auto claimed = [&](std::int64_t offset) {
    double sum = 0;
    for (const double frequency : w) sum += std::cos(frequency * static_cast<double>(offset));
    return sum / static_cast<double>(w.size());
  };
  const double size = radius_of(encoded);
  for (std::int64_t offset = 0; offset < count; ++offset) {
    double sum = 0;
    for (std::size_t i = 0; i < w.size(); ++i) {
      const PairValues& a = rows[0][i];
      const PairValues& b = rows[static_cast<std::size_t>(offset)][i];
      sum += a.sin * b.sin + a.cos * b.cos;
    }
    curve.offsets.push_back(offset);
    curve.claimed.push_back(claimed(offset));
    curve.measured.push_back(sum / (static_cast<double>(w.size()) * size * size));
  }
  const std::int64_t most_offset = range.last - 1 - range.first;
  if (most_offset < 1) return curve;
  const reference::CodeDistances distances = encoded.distances(most_offset, aliases_told);
  curve.searched = distances.searched;
  curve.nearest = distances.nearest.offset;
  curve.nearest_distance = distances.nearest.distance * size;
  curve.searched_for_aliases = distances.searched_for_aliases;
  for (const reference::OffsetDistance& alias : distances.aliases) {
    curve.aliases.push_back(alias.offset);
    curve.alias_distances.push_back(alias.distance * size);
  }
  return curve;
}

MembersOfPairs ask_members(Session& session, const EncodedPairs& encoded, const std::vector<std::int64_t>& positions) {
  MembersOfPairs members{encoded.ask(session, positions)};
  const std::vector<PairValues> second(static_cast<std::size_t>(encoded.count()), PairValues{.sin = 1, .cos = 0});
  if (auto turned = encoded.ask_turned(session, positions, second)) {
    for (auto& row : *turned) {
      for (PairValues& value : row) value = {.sin = -value.cos, .cos = value.sin};
    }
    members.push_back(std::move(*turned));
  }
  return members;
}

// A position that is as claimed and whose successor is not, of those from one that is to one that is not.
std::int64_t horizon_between(Session& session, EncodedPairs& encoded, const Spec& spec, std::int64_t right,
                             std::int64_t wrong) {
  const double size = radius_of(encoded);
  const ErrorBudget budget = encoded.budget(spec.accuracy);
  while (wrong - right > 1) {
    const std::vector<std::int64_t> middle{right + (wrong - right) / 2};
    const auto truth = encoded.truth(middle, reference::sequence_length(middle));
    const bool is_right = std::ranges::all_of(ask_members(session, encoded, middle), [&](const Rows& rows) {
      return row_within(encoded, spec.accuracy, budget, spec.dtype, rows[0], truth[0], size);
    });
    (is_right ? right : wrong) = middle[0];
  }
  return right;
}

CodeMap codes_from(Session& session, EncodedPairs& encoded, const Spec& spec, std::int64_t first) {
  const Rows codes = encoded.ask(session, gen::consecutive(first, std::min(code_rows, spec.max_position - first)));
  const std::int64_t columns = std::min(encoded.count(), most_channels / 2);
  CodeMap map{first, std::ssize(codes), 2 * columns, {}};
  for (const auto& row : codes) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(columns); ++i) {
      map.values.push_back(row[i].sin);
      map.values.push_back(row[i].cos);
    }
  }
  return map;
}

// The grid in two calls, unless answers depend on a call's length, so that what counts positions from a call's start
// does not pass for right.
MembersOfPairs rows_of_grid(Session& session, const EncodedPairs& encoded, const Spec& spec,
                            const std::vector<std::int64_t>& positions) {
  if (positions.size() < 2 || depends_on_length(spec)) return ask_members(session, encoded, positions);
  const auto middle = positions.begin() + std::ssize(positions) / 2;
  MembersOfPairs members = ask_members(session, encoded, {positions.begin(), middle});
  const MembersOfPairs others = ask_members(session, encoded, {middle, positions.end()});
  for (std::size_t i = 0; i < members.size(); ++i) std::ranges::copy(others[i], std::back_inserter(members[i]));
  return members;
}

void measure(Survey& survey, Session& session, EncodedPairs& encoded, const Spec& spec, SurveyFor purpose) {
  const std::vector<std::int64_t> positions = grid_positions(spec);
  const MembersOfPairs members = rows_of_grid(session, encoded, spec, positions);
  const Rows& rows = members.front();
  const std::vector<EncodedPairs::Truth> truth = encoded.truth(positions, reference::sequence_length(positions));
  const double size = radius_of(encoded);
  const double unit = ulp(spec.dtype, size);

  for (const AccuracyClass accuracy : classes) {
    const ErrorBudget budget = encoded.budget(accuracy);
    std::size_t within = 0;
    const auto is_within = [&](const Rows& one) {
      return row_within(encoded, accuracy, budget, spec.dtype, one[within], truth[within], size);
    };
    while (within < rows.size() && std::ranges::all_of(members, is_within)) ++within;
    if (within == rows.size() && survey.measured_class.empty()) survey.measured_class = name_of(accuracy);
    if (accuracy == spec.accuracy && within > 0) survey.horizon = positions[within - 1];
    if (accuracy == spec.accuracy && within > 0 && within < rows.size())
      survey.horizon = horizon_between(session, encoded, spec, positions[within - 1], positions[within]);
  }
  survey.errors = grid_of(encoded, spec, positions, members, truth);
  if (const auto stage = told_stage(session, encoded, spec, {positions, rows, truth})) {
    survey.stage = reference::name_of(*stage);
    survey.stage_evidence = "oracle";
  }
  for (const reference::Recipe& recipe : reference::recipes()) {
    const auto emulated = encoded.emulate(recipe, positions);
    const auto same = [](const PairValues& a, const PairValues& b) { return a.sin == b.sin && a.cos == b.cos; };
    const auto is_emulated = [&](const Rows& one) {
      return std::ranges::equal(*emulated, one,
                                [&](const auto& a, const auto& b) { return std::ranges::equal(a, b, same); });
    };
    // A sine and a cosine times 0 and 1 are themselves in either member.
    if (emulated && std::ranges::all_of(members, is_emulated)) {
      survey.recipe = recipe.name;
      break;
    }
  }

  // Half the distance between the codes of neighbours, in the Euclidean norm over all pairs.
  double spacing = 0;
  for (const double w : encoded.frequencies(reference::sequence_length(positions)))
    spacing += std::pow(2 * std::sin(std::min(w, std::numbers::pi) / 2) * size, 2);
  double worst_relative = 0;
  double near_error = 0;
  bool apart = true;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    double total = 0;
    for (std::size_t i = 0; i < rows[row].size(); ++i) {
      const double sine = error_of(rows[row][i].sin, truth[row].sin[i]);
      const double cosine = error_of(rows[row][i].cos, truth[row].cos[i]);
      total += sine * sine + cosine * cosine;
      if (row <= 1) near_error = std::max({near_error, sine, cosine});
      const double angle = std::fabs(truth[row].angle[i]);
      const double turned = std::fabs(angle_error(rows[row][i], truth[row], i));
      if (angle > 1 && turned * size > 4 * unit) worst_relative = std::max(worst_relative, turned / angle);
    }
    apart = apart && total < spacing / 4;
    if (apart) survey.half_spacing = positions[row];
  }
  if (worst_relative > 0) survey.angle_bits = -std::log2(worst_relative);
  if (near_error > 0 && std::isfinite(near_error)) survey.output_bits = -std::log2(near_error / size);

  if (purpose == SurveyFor::summary) return;
  survey.frequencies = frequencies_of(session, encoded, spec);
  survey.similarity = similarity_of(session, encoded, spec);
  const std::int64_t first = gen::simplest_position(gen::range_of(spec));
  survey.codes = codes_from(session, encoded, spec, first);
  const std::int64_t horizon = survey.horizon.value_or(first);
  if (horizon >= first + code_rows / 2 && horizon < spec.max_position - 1)
    survey.codes_at_horizon = codes_from(session, encoded, spec, horizon - code_rows / 2);
}

void map_bias(Survey& survey, Session& session, const Spec& spec) {
  const std::int64_t count = std::min<std::int64_t>(32, spec.max_position - spec.min_position);
  const Tensor table = ask(session, spec, {spec.min_position, count, 1, 4, 1});
  BiasMap& map = survey.bias.emplace(BiasMap{table.shape[0], table.shape[1], table.shape[2], {}});
  for (std::int64_t i = 0; i < table.elements(); ++i) map.values.push_back(table.at(i));
}

void map_codes(Survey& survey, Session& session, const Spec& spec) {
  const std::int64_t count = std::min(code_rows, last_position_of(spec) - spec.min_position);
  const Tensor table = ask(session, spec, {spec.min_position, count, 1, 1, 1});
  const std::int64_t width = std::min(table.shape[1], most_channels);
  CodeMap& map = survey.codes.emplace(CodeMap{spec.min_position, count, width, {}});
  for (std::int64_t row = 0; row < count; ++row) {
    for (std::int64_t channel = 0; channel < width; ++channel)
      map.values.push_back(table.at(row * table.shape[1] + channel));
  }
}

}  // namespace

Survey take_survey(const Subject& subject, const Spec& spec, SurveyFor purpose) {
  Survey survey;
  try {
    const std::unique_ptr<Session> session = subject.open(spec);
    const Operation operation = operation_of(spec.encoding);
    if (const auto pairs = model_of(spec)->encoded_pairs()) {
      measure(survey, *session, *pairs, spec, purpose);
    } else if (purpose == SurveyFor::pictures && operation == Operation::bias) {
      map_bias(survey, *session, spec);
    } else if (purpose == SurveyFor::pictures && operation == Operation::encode) {
      map_codes(survey, *session, spec);
    }
  } catch (const SubjectFailure&) {
    // The properties tell how the subject failed; what was measured until then stays.
  }
  return survey;
}

}  // namespace sextant
