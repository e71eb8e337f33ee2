#include "reference/recipe.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "reference/rounding.hpp"
#include "reference/wide_value.hpp"

namespace sextant::reference {
namespace {

using enum FrequencyForm;
using enum Application;

constexpr std::array<Recipe, 8> all{{
    {"float32", "Hugging Face transformers: float32 up to the table, which is cast to the dtype of x",
     reciprocal_of_power, Dtype::float32, Dtype::float32, Dtype::float32, in_dtype},
    {"float32-power", "one power of a negative exponent instead of a reciprocal; float32", power, Dtype::float32,
     Dtype::float32, Dtype::float32, in_dtype},
    {"float32-exponential", "the PyTorch tutorial's div_term: exp of a multiple of -ln(base)/dim; float32", exponential,
     Dtype::float32, Dtype::float32, Dtype::float32, in_dtype},
    {"float32-running-product", "ggml: angles by repeated multiplication, rotation in float32; float32",
     running_product, Dtype::float32, Dtype::float32, Dtype::float32, widened},
    {"float64", "everything in float64, cast at the end", reciprocal_of_power, Dtype::float64, Dtype::float64,
     Dtype::float64, widened},
    {"float32-widened", "float32 up to the rotated pair, cast at the end", reciprocal_of_power, Dtype::float32,
     Dtype::float32, Dtype::float32, widened},
    {"bfloat16-angle",
     "a model cast as a whole: float32 frequencies and positions cast to bfloat16, and everything after in bfloat16",
     reciprocal_of_power, Dtype::float32, Dtype::bfloat16, Dtype::bfloat16, in_dtype},
    {"float16-angle", "the same in float16", reciprocal_of_power, Dtype::float32, Dtype::float16, Dtype::float16,
     in_dtype},
}};

// The values of the dtype nearest to sin and cos of an angle, from the fast tier where that tells.
TableEntry table_entry(Dtype dtype, double angle, const RotationRow& row, std::size_t i) {
  // sin and cos of an infinite angle, which a float16 position beyond 65504 makes.
  if (!std::isfinite(angle)) return {std::nan(""), std::nan("")};
  const auto exact = [&](auto component) {
    return nearest(dtype, [&](Precision precision) { return component(rotation_at_angle(angle, precision)); });
  };
  const auto sine = correctly_rounded(dtype, row.sin_high[i], row.sin_low[i], FastRotations::error);
  const auto cosine = correctly_rounded(dtype, row.cos_high[i], row.cos_low[i], FastRotations::error);
  return {sine ? *sine : exact([](const Rotation& rotation) { return rotation.sin; }),
          cosine ? *cosine : exact([](const Rotation& rotation) { return rotation.cos; })};
}

}  // namespace

std::span<const Recipe> recipes() { return all; }

const Recipe& recipe_named(std::string_view name) {
  const auto found = std::ranges::find(all, name, &Recipe::name);
  if (found == all.end()) throw std::invalid_argument("no recipe " + std::string(name));
  return *found;
}

RecipeStages::RecipeStages(const Recipe& recipe, RecipeFrequencies frequencies, std::int64_t pairs)
    : recipe_(recipe),
      frequencies_(std::move(frequencies)),
      row_(static_cast<std::size_t>(pairs)),
      angles_(static_cast<std::size_t>(pairs)) {}

const std::vector<Intermediates>& RecipeStages::at(std::int64_t position) {
  const auto in_angle = [&](double x) { return round_to(recipe_.angle, x); };
  // Positions are integers up to 2^53, which double holds.
  const double place = in_angle(static_cast<double>(position));
  double product = place;
  for (std::size_t i = 0; i < row_.size(); ++i) {
    if (recipe_.form == running_product) {
      angles_[i] = in_angle(product * frequencies_.angle_factor);
      row_[i].frequency = position == 0 ? 0 : angles_[i] / static_cast<double>(position);
      product = in_angle(product * frequencies_.ratio);
    } else {
      row_[i].frequency = frequencies_.radians[i];
      angles_[i] = in_angle(place * frequencies_.radians[i]);
    }
    row_[i].angle = angles_[i];
  }
  std::vector<double> finite = angles_;
  std::ranges::replace_if(
      finite, [](double angle) { return !std::isfinite(angle); }, 0.0);
  FastRotations::at_angles(finite, rotations_);
  for (std::size_t i = 0; i < row_.size(); ++i) {
    const TableEntry entry = table_entry(recipe_.table, angles_[i], rotations_, i);
    row_[i].table = {round_to(recipe_.table, entry.sin * frequencies_.factor),
                     round_to(recipe_.table, entry.cos * frequencies_.factor)};
  }
  return row_;
}

std::optional<SinusoidalEmulation> SinusoidalEmulation::of(const Recipe& recipe, const Sinusoidal& encoding,
                                                           Dtype dtype) {
  auto frequencies = recipe_frequencies(recipe, encoding);
  if (!frequencies) return std::nullopt;
  return SinusoidalEmulation(RecipeStages(recipe, std::move(*frequencies), pairs(encoding)), encoding, dtype);
}

std::vector<double> SinusoidalEmulation::encode(std::int64_t position) {
  std::vector<double> values(static_cast<std::size_t>(encoding_.dim));
  const std::vector<Intermediates>& row = at(position + encoding_.position_offset);
  for (std::int64_t pair = 0; pair < pairs(encoding_); ++pair) {
    const Channels channels = channels_of_pair(encoding_, pair);
    const TableEntry& entry = row[static_cast<std::size_t>(pair)].table;
    values[static_cast<std::size_t>(channels.first)] = round_to(dtype_, entry.sin);
    values[static_cast<std::size_t>(channels.second)] = round_to(dtype_, entry.cos);
  }
  return values;
}

std::optional<RopeEmulation> RopeEmulation::of(const Recipe& recipe, const Rope& encoding, Dtype dtype) {
  auto frequencies = recipe_frequencies(recipe, encoding, 0);
  if (!frequencies) return std::nullopt;
  return RopeEmulation(RecipeStages(recipe, std::move(*frequencies), pairs(encoding)), encoding, dtype);
}

const std::vector<Intermediates>& RopeEmulation::at(std::int64_t position, std::int64_t sequence_length) {
  if (length_limit(encoding_.rope_scaling) && sequence_length != length_) {
    stages_.set_frequencies(*recipe_frequencies(stages_.recipe(), encoding_, sequence_length));
    length_ = sequence_length;
  }
  return stages_.at(position);
}

RopeEmulation::Pair RopeEmulation::rotate(const Intermediates& had, double x0, double x1) const {
  const Dtype arithmetic = stages_.recipe().application == in_dtype ? dtype_ : stages_.recipe().table;
  const auto in = [&](double x) { return round_to(arithmetic, x); };
  const bool clockwise = encoding_.direction == Direction::clockwise;
  const double sine = in(clockwise ? -had.table.sin : had.table.sin);
  const double cosine = in(had.table.cos);
  const double first = in(in(x0 * cosine) - in(x1 * sine));
  const double second = in(in(x1 * cosine) + in(x0 * sine));
  return {round_to(dtype_, first), round_to(dtype_, second)};
}

}  // namespace sextant::reference
