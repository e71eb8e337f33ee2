#include "reference/recipe.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "reference/cephes.hpp"
#include "reference/rounding.hpp"
#include "reference/wide_value.hpp"

namespace sextant::reference {
namespace {

using enum FrequencyForm;
using enum Application;

constexpr std::array all{std::to_array<Recipe>({
    {"float32", "Hugging Face transformers: float32 up to the table, which is cast to the dtype of x",
     reciprocal_of_power, Dtype::float32, Dtype::float32, Dtype::float32, in_dtype},
    {"float32-power", "one power of a negative exponent instead of a reciprocal; float32", power, Dtype::float32,
     Dtype::float32, Dtype::float32, in_dtype},
    {"float32-exponential", "the PyTorch tutorial's div_term: exp of a multiple of -ln(base)/dim; float32", exponential,
     Dtype::float32, Dtype::float32, Dtype::float32, in_dtype},
    {"float32-running-product", "ggml: angles by repeated multiplication, rotation in float32", running_product,
     Dtype::float32, Dtype::float32, Dtype::float32, widened},
    {"float64", "everything in float64, cast at the end", reciprocal_of_power, Dtype::float64, Dtype::float64,
     Dtype::float64, widened},
    {"float32-widened", "float32 up to the rotated pair, cast at the end", reciprocal_of_power, Dtype::float32,
     Dtype::float32, Dtype::float32, widened},
    {"bfloat16-angle",
     "a model cast as a whole: float32 frequencies and positions cast to bfloat16, and everything after in bfloat16",
     reciprocal_of_power, Dtype::float32, Dtype::bfloat16, Dtype::bfloat16, in_dtype},
    {"float16-angle", "the same in float16", reciprocal_of_power, Dtype::float32, Dtype::float16, Dtype::float16,
     in_dtype},
    {"cast-table",
     "vLLM's kernel, SGLang's but on CUDA: float32 up to the table, which is cast to the dtype of x; products and sum "
     "in float32, cast at the end",
     reciprocal_of_power, Dtype::float32, Dtype::float32, Dtype::float32, cast_table},
    {"cast-table-fused-first", "the same where the compiler leaves the first product exact: fma(x0, cos, -(x1 sin))",
     reciprocal_of_power, Dtype::float32, Dtype::float32, Dtype::float32, cast_table, Products::fused_first},
    {"cast-table-fused-second", "the same where it leaves the second exact: fma(-x1, sin, x0 cos)", reciprocal_of_power,
     Dtype::float32, Dtype::float32, Dtype::float32, cast_table, Products::fused_second},
    {"float32-widened-fused-first",
     "float32-widened where a compiler leaves the first product exact: fma(x0, cos, -(x1 sin))", reciprocal_of_power,
     Dtype::float32, Dtype::float32, Dtype::float32, widened, Products::fused_first},
    {"float32-widened-fused-second", "the same where it leaves the second exact", reciprocal_of_power, Dtype::float32,
     Dtype::float32, Dtype::float32, widened, Products::fused_second},
    {"wide-power",
     "TensorRT-LLM's table: powers in float64, cast to float32 before the reciprocal; rotation in float32",
     reciprocal_of_wide_power, Dtype::float32, Dtype::float32, Dtype::float32, widened},
    {"wide-power-fused-first", "the same where the compiler leaves the first product exact", reciprocal_of_wide_power,
     Dtype::float32, Dtype::float32, Dtype::float32, widened, Products::fused_first},
    {"wide-power-fused-second", "the same where it leaves the second exact", reciprocal_of_wide_power, Dtype::float32,
     Dtype::float32, Dtype::float32, widened, Products::fused_second},
    {"float32-running-product-fused-x0", "ggml compiled for a processor with fused products: that of x0 is exact",
     running_product, Dtype::float32, Dtype::float32, Dtype::float32, widened, Products::fused_x0},
    {"quotient",
     "Gemma and MaxText as written in JAX, d2l.ai: positions divided by powers; on a CPU JAX is float32-widened",
     quotient_by_power, Dtype::float32, Dtype::float32, Dtype::float32, widened},
    {"narrow-logarithm", "MLX off Metal: exp of a multiple of a float32 logarithm; the table is cast to the dtype of x",
     exponential_of_narrow_logarithm, Dtype::float32, Dtype::float32, Dtype::float32, in_dtype},
    {"narrow-logarithm-cephes", "the same with MLX's own exponential, sine and cosine, which are Cephes'",
     exponential_of_narrow_logarithm, Dtype::float32, Dtype::float32, Dtype::float32, in_dtype, Products::rounded,
     Functions::cephes},
})};

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

// A float32 angle's.
TableEntry cephes_entry(double angle) {
  const auto narrow = static_cast<float>(angle);
  return {static_cast<double>(cephes_sine(narrow)), static_cast<double>(cephes_cosine(narrow))};
}

struct Factors {
  double a;
  double b;
};

// fl(a b + c), the product exact: in float32 and float64, which fused operations are in.
double fused(Dtype dtype, const Factors& of, double c) {
  if (dtype == Dtype::float64) return std::fma(of.a, of.b, c);
  const auto narrow = [](double x) { return static_cast<float>(x); };
  return static_cast<double>(std::fma(narrow(of.a), narrow(of.b), narrow(c)));
}

double sum_of_products(Dtype dtype, Products products, const Factors& one, const Factors& other) {
  const auto rounded = [&](const Factors& of) { return round_to(dtype, of.a * of.b); };
  switch (products) {
    case Products::rounded: return round_to(dtype, rounded(one) + rounded(other));
    case Products::fused_first:
    case Products::fused_x0: return fused(dtype, one, rounded(other));
    case Products::fused_second: return fused(dtype, other, rounded(one));
  }
  throw std::invalid_argument("sum_of_products: no such products");
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
    if (recipe_.form == quotient_by_power) {
      angles_[i] = in_angle(in_angle(place / frequencies_.divisors[i]) / frequencies_.angle_divisor);
      row_[i].frequency = 1 / (frequencies_.divisors[i] * frequencies_.angle_divisor);
    } else if (recipe_.form == running_product) {
      const double divided = frequencies_.divisors.empty() ? product : in_angle(product / frequencies_.divisors[i]);
      angles_[i] = in_angle(divided * frequencies_.angle_factor);
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
  const auto by_cephes = [this](double angle) {
    return recipe_.functions == Functions::cephes && std::fabs(angle) < static_cast<double>(cephes_angle_limit);
  };
  for (std::size_t i = 0; i < row_.size(); ++i) {
    const TableEntry entry =
        by_cephes(angles_[i]) ? cephes_entry(angles_[i]) : table_entry(recipe_.table, angles_[i], rotations_, i);
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
  const Recipe& recipe = stages_.recipe();
  const Dtype arithmetic = recipe.application == in_dtype ? dtype_ : recipe.table;
  const Dtype table = recipe.application == widened ? recipe.table : dtype_;
  const bool clockwise = encoding_.direction == Direction::clockwise;
  const double sine = round_to(table, clockwise ? -had.table.sin : had.table.sin);
  const double cosine = round_to(table, had.table.cos);
  const double first = sum_of_products(arithmetic, recipe.products, {x0, cosine}, {-x1, sine});
  const Products of_second = recipe.products == Products::fused_x0 ? Products::fused_second : recipe.products;
  const double second = sum_of_products(arithmetic, of_second, {x1, cosine}, {x0, sine});
  return {round_to(dtype_, first), round_to(dtype_, second)};
}

}  // namespace sextant::reference
