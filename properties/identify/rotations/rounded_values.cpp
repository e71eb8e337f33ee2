#include "properties/identify/rotations/rounded_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "lib/numeric/dtype.hpp"
#include "lib/numeric/ulp.hpp"
#include "properties/identify/format_text.hpp"
#include "properties/model/model.hpp"
#include "properties/model/ordinary_vectors.hpp"

namespace sextant::identify {
namespace {

// Below 256, where every 16-bit position is right.
constexpr std::int64_t asked[] = {1, 2, 3, 5, 7, 11, 23, 47, 101, 251};
// A float32 angle of up to 251 radians is off by 2^-17 twice over, 1/32 of float16's unit in the last place in
// [1/8, 1).
constexpr double slack = 0x1p-5;
constexpr double least_size = 0x1p-3;
constexpr std::int64_t fewest_values = 16;

bool is_of_format(const Rows& rows, Dtype format) {
  std::int64_t told = 0;
  for (const auto& row : rows) {
    for (const PairValues& value : row) {
      for (const double one : {value.sin, value.cos}) {
        if (round_to(format, one) != one) return false;
        if (one != 0 && std::fabs(one) != 1) ++told;
      }
    }
  }
  return told >= fewest_values;
}

std::optional<Dtype> format_of_values(const Rows& rows, Dtype dtype) {
  for (const Dtype narrow : {Dtype::bfloat16, Dtype::float16, Dtype::float32}) {
    if (format_of(narrow).precision < format_of(dtype).precision && is_of_format(rows, narrow)) return narrow;
  }
  return std::nullopt;
}

// Whether errors, in units of the format's last place, all bring values nearer to 0, some by more than rounding does.
bool is_truncated(const Rows& rows, const Rows& truth, Dtype format) {
  std::int64_t told = 0;
  std::int64_t beyond = 0;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    for (std::size_t i = 0; i < rows[row].size(); ++i) {
      for (const Component component : {Component::sine, Component::cosine}) {
        const double real = std::fabs(truth[row][i].value(component));
        if (real < least_size) continue;
        const double lost = (real - std::fabs(rows[row][i].value(component))) / ulp(format, real);
        if (!(lost >= -slack && lost <= 1 + slack)) return false;
        ++told;
        if (lost > 0.5 + slack) ++beyond;
      }
    }
  }
  // Of lost parts spread evenly over a unit a half are beyond.
  return told >= fewest_values && 4 * beyond > told;
}

// Whether values are further off than one rounding to the format makes them.
bool is_rounded_before(const Rows& rows, const Rows& truth, Dtype format) {
  for (std::size_t row = 0; row < rows.size(); ++row) {
    for (std::size_t i = 0; i < rows[row].size(); ++i) {
      for (const Component component : {Component::sine, Component::cosine}) {
        const double real = truth[row][i].value(component);
        if (std::fabs(real) < least_size) continue;
        const double off = std::fabs(rows[row][i].value(component) - real) / ulp(format, std::fabs(real));
        if (off > 0.5 + slack) return true;
      }
    }
  }
  return false;
}

Rows truth_of(EncodedPairs& encoded, const std::vector<std::int64_t>& positions, std::int64_t length) {
  Rows rows;
  for (const EncodedPairs::Truth& at : encoded.truth(positions, length)) {
    auto& row = rows.emplace_back();
    for (std::size_t i = 0; i < at.sin.size(); ++i) row.push_back({.sin = at.sin[i].high, .cos = at.cos[i].high});
  }
  return rows;
}

// What vectors become that rows (sin, cos) turn.
Rows turned_by(const Rows& rows, const std::vector<PairValues>& vectors) {
  Rows turned = rows;
  for (auto& row : turned) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      const PairValues at = row[i];
      const PairValues& x = vectors[i];
      row[i] = {.sin = x.cos * at.sin + x.sin * at.cos, .cos = x.cos * at.cos - x.sin * at.sin};
    }
  }
  return turned;
}

}  // namespace

RoundedValues rounded_values(Session& session, const Spec& spec) {
  const auto encoded = model_of(spec)->encoded_pairs();
  if (!encoded || spec.min_position > 0 || spec.max_position <= 3) return {};
  std::vector<std::int64_t> positions;
  for (const std::int64_t position : asked) {
    if (position < spec.max_position) positions.push_back(position);
  }
  const Rows rows = encoded->ask(session, positions);
  const Rows truth = truth_of(*encoded, positions, positions.back() + 1);
  const std::vector<PairValues> vectors = ordinary_vectors(encoded->count(), spec.dtype);
  const std::optional<Rows> turned = encoded->ask_turned(session, positions, vectors);
  const std::string_view table = turned ? "cosines and sines" : "values";
  const auto format = format_of_values(rows, spec.dtype);
  const bool are_truncated = is_truncated(rows, truth, format.value_or(spec.dtype));
  if (!format)
    return {are_truncated ? "results are truncated, not rounded to nearest" : "", DiagnosedStage::rounding,
            are_truncated};
  const std::string name = format_text(*format, spec.dtype);
  const bool are_results = turned && format_of_values(*turned, spec.dtype) == format;
  const DiagnosedStage stage = are_results ? DiagnosedStage::rounding : DiagnosedStage::table;
  if (are_truncated) {
    return {fmt::format("{} are truncated to {}, not rounded to nearest", are_results ? "results" : table, name), stage,
            true};
  }
  if (!are_results) return {fmt::format("{} are rounded to {}", table, name), stage};
  if (is_rounded_before(*turned, turned_by(truth, vectors), *format)) {
    std::vector<PairValues> rounded = vectors;
    for (PairValues& x : rounded) x = {.sin = round_to(*format, x.sin), .cos = round_to(*format, x.cos)};
    if (!is_rounded_before(*turned, turned_by(truth, rounded), *format))
      return {fmt::format("vectors and results are rounded to {}, what is between is not", name)};
    return {fmt::format("the rotation is computed in {}", name), DiagnosedStage::rotation};
  }
  return {fmt::format("results are rounded to {}", name)};
}

}  // namespace sextant::identify
