#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "reference/cephes.hpp"
#include "reference/recipe.hpp"
#include "reference/rounding.hpp"

namespace sextant::reference {
namespace {

// One format's arithmetic. Operands are values of it; the operation in double and one more rounding give the correctly
// rounded result for every format here: float64 by itself, the others since 53 >= 2 * 24 + 2 (Figueroa 1995).
struct Arithmetic {
  Dtype dtype;
  Functions functions = Functions::correctly_rounded;

  double cast(double x) const { return round_to(dtype, x); }
  double add(double a, double b) const { return cast(a + b); }
  double subtract(double a, double b) const { return cast(a - b); }
  double multiply(double a, double b) const { return cast(a * b); }
  double divide(double a, double b) const { return cast(a / b); }
  /// base^exponent, base > 0.
  double power(double base, double exponent) const {
    return nearest(dtype, [&](Precision precision) {
      return exp(Enclosure(exponent, precision) * log(Enclosure(base, precision)));
    });
  }
  double exponential(double x) const {
    if (functions == Functions::cephes) return static_cast<double>(cephes_exponential(static_cast<float>(x)));
    return nearest(dtype, [&](Precision precision) { return exp(Enclosure(x, precision)); });
  }
  double logarithm(double x) const {
    return nearest(dtype, [&](Precision precision) { return log(Enclosure(x, precision)); });
  }
};

// Numbers that Python holds are doubles.
constexpr Arithmetic python{Dtype::float64};

double python_log(double x) { return python.logarithm(x); }

// The divisor of the frequency exponent: base^(-2i/dim), or base^(-i/(dim/2 - 1)) as tensor2tensor has it.
enum class Denominator { dim, half_minus_one };

// base^e_i for each i, or exp's argument: what the forms have in common.
struct Series {
  double base;
  std::int64_t width;  // n
  std::int64_t count;
  Denominator denominator;

  double exponent(const Arithmetic& in, std::int64_t i) const {
    if (denominator == Denominator::dim)
      return in.divide(in.cast(static_cast<double>(2 * i)), in.cast(static_cast<double>(width)));
    return count == 1 ? 0 : in.divide(in.cast(static_cast<double>(i)), in.cast(static_cast<double>(count - 1)));
  }

  // -ln(base)/n, or over n/2 - 1, for exp's argument 2i c or i c.
  double coefficient() const {
    const std::int64_t divisor = denominator == Denominator::dim ? width : std::max<std::int64_t>(count - 1, 1);
    return python.divide(-python_log(base), static_cast<double>(divisor));
  }

  // The same formed in the format, for exp's argument i c.
  double narrow_coefficient(const Arithmetic& in) const {
    const std::int64_t divisor = denominator == Denominator::dim ? width / 2 : std::max<std::int64_t>(count - 1, 1);
    return in.divide(-in.logarithm(in.cast(base)), in.cast(static_cast<double>(divisor)));
  }

  std::vector<double> powers(const Arithmetic& in) const {
    std::vector<double> result;
    for (std::int64_t i = 0; i < count; ++i) result.push_back(in.power(in.cast(base), exponent(in, i)));
    return result;
  }

  std::vector<double> frequencies(FrequencyForm form, const Arithmetic& in) const {
    std::vector<double> result;
    if (form == FrequencyForm::reciprocal_of_power) {
      for (const double power : powers(in)) result.push_back(in.divide(1, power));
      return result;
    }
    for (std::int64_t i = 0; i < count; ++i) {
      if (form == FrequencyForm::power) {
        result.push_back(in.power(in.cast(base), -exponent(in, i)));
      } else if (form == FrequencyForm::exponential_of_narrow_logarithm) {
        result.push_back(in.exponential(in.multiply(static_cast<double>(i), narrow_coefficient(in))));
      } else {
        const double step = in.cast(static_cast<double>(denominator == Denominator::dim ? 2 * i : i));
        result.push_back(in.exponential(in.multiply(step, in.cast(coefficient()))));
      }
    }
    return result;
  }
};

// YaRN's 0.1 x ln s + 1 as Python evaluates it.
double magnitude_scale(double factor, double x) {
  return factor <= 1 ? 1.0 : python.add(python.multiply(python.multiply(0.1, x), python_log(factor)), 1);
}

double factor_of(const LongropeScaling& longrope, std::int64_t sequence_length) {
  if (longrope.short_mscale) {
    const bool is_long = sequence_length > longrope.original_max_position_embeddings;
    return is_long ? *longrope.long_mscale : *longrope.short_mscale;
  }
  if (longrope.attention_factor) return *longrope.attention_factor;
  if (*longrope.factor <= 1) return 1;
  return std::sqrt(
      python.add(1, python.divide(python_log(*longrope.factor),
                                  python_log(static_cast<double>(longrope.original_max_position_embeddings)))));
}

// Hugging Face's modeling_rope_utils, rule by rule: scalars are doubles until they meet a tensor, and then rounded to
// its format.
struct Scaling {
  const Rope& encoding;
  const Series& series;
  FrequencyForm form;
  Arithmetic in;
  std::int64_t sequence_length;

  using Result = std::optional<RecipeFrequencies>;

  Result operator()(const DefaultScaling&) const { return RecipeFrequencies{.radians = series.frequencies(form, in)}; }
  Result operator()(const NoTurning&) const { return std::nullopt; }

  Result operator()(const LinearScaling& linear) const {
    RecipeFrequencies result{.radians = series.frequencies(form, in)};
    for (double& w : result.radians) w = in.divide(w, in.cast(linear.factor));
    return result;
  }

  Result operator()(const NtkScaling&) const { return std::nullopt; }
  Result operator()(const ProportionalScaling&) const { return std::nullopt; }

  Result operator()(const DynamicScaling& dynamic) const {
    const auto original = static_cast<double>(dynamic.original_max_position_embeddings);
    const auto length = std::max(static_cast<double>(stepped_length(dynamic, sequence_length)), original);
    const auto n = static_cast<double>(series.width);
    const double stretch = python.subtract(python.divide(python.multiply(dynamic.factor, length), original),
                                           python.subtract(dynamic.factor, 1));
    Series stretched = series;
    stretched.base = python.multiply(series.base, python.power(stretch, python.divide(n, n - 2)));
    return RecipeFrequencies{.radians = stretched.frequencies(form, in)};
  }

  Result operator()(const YarnScaling& yarn) const {
    const auto n = static_cast<double>(series.width);
    const auto end = [&](double turns) {
      const double wavelength = python.divide(static_cast<double>(yarn.original_max_position_embeddings),
                                              python.multiply(python.multiply(turns, 2), std::numbers::pi));
      return python.divide(python.multiply(n, python_log(wavelength)), python.multiply(2, python_log(series.base)));
    };
    double low = end(yarn.beta_fast);
    double high = end(yarn.beta_slow);
    if (yarn.truncate == Truncate::yes) {
      low = std::floor(low);
      high = std::ceil(high);
    }
    low = std::max(low, 0.0);
    high = std::min(high, n - 1);
    if (low == high) high += 0.001;
    const double span = in.cast(python.subtract(high, low));
    RecipeFrequencies result;
    const std::vector<double> powers = series.powers(in);
    for (std::size_t i = 0; i < powers.size(); ++i) {
      const double ramp = in.divide(in.subtract(in.cast(static_cast<double>(i)), in.cast(low)), span);
      const double extrapolated = in.subtract(1, std::clamp(ramp, 0.0, 1.0));
      const double stretched = in.divide(1, in.multiply(in.cast(yarn.factor), powers[i]));
      result.radians.push_back(in.add(in.multiply(stretched, in.subtract(1, extrapolated)),
                                      in.multiply(in.divide(1, powers[i]), extrapolated)));
    }
    result.factor = yarn.attention_factor ? *yarn.attention_factor
                    : yarn.mscale         ? python.divide(magnitude_scale(yarn.factor, *yarn.mscale),
                                                          magnitude_scale(yarn.factor, *yarn.mscale_all_dim))
                                          : magnitude_scale(yarn.factor, 1);
    return result;
  }

  Result operator()(const LongropeScaling& longrope) const {
    const std::vector<double>& factors =
        sequence_length > longrope.original_max_position_embeddings ? longrope.long_factor : longrope.short_factor;
    RecipeFrequencies result;
    const std::vector<double> powers = series.powers(in);
    for (std::size_t i = 0; i < powers.size(); ++i)
      result.radians.push_back(in.divide(1, in.multiply(in.cast(factors.at(i)), powers[i])));
    result.factor = factor_of(longrope, sequence_length);
    return result;
  }

  Result operator()(const Llama3Scaling& llama3) const {
    const auto original = static_cast<double>(llama3.original_max_position_embeddings);
    const double longest = in.cast(python.divide(original, llama3.low_freq_factor));
    const double shortest = in.cast(python.divide(original, llama3.high_freq_factor));
    const double bands = in.cast(python.subtract(llama3.high_freq_factor, llama3.low_freq_factor));
    RecipeFrequencies result{.radians = series.frequencies(form, in)};
    for (double& w : result.radians) {
      const double wavelength = in.divide(in.cast(2 * std::numbers::pi), w);
      const double factor = in.cast(llama3.factor);
      if (wavelength > longest) {
        w = in.divide(w, factor);
      } else if (!(wavelength < shortest)) {
        const double share =
            in.divide(in.subtract(in.divide(in.cast(original), wavelength), in.cast(llama3.low_freq_factor)), bands);
        w = in.add(in.divide(in.multiply(in.subtract(1, share), w), factor), in.multiply(share, w));
      }
    }
    return result;
  }
};

// What ggml divides angles by: 1, the factor, or between both the reciprocal of the blend, as a conversion writes them.
std::vector<double> llama3_divisors(const Llama3Scaling& llama3, const Series& series, const Arithmetic& in) {
  const auto original = static_cast<double>(llama3.original_max_position_embeddings);
  std::vector<double> divisors;
  for (const double w : series.frequencies(FrequencyForm::reciprocal_of_power, in)) {
    const double wavelength = in.divide(in.cast(2 * std::numbers::pi), w);
    if (wavelength < in.cast(python.divide(original, llama3.high_freq_factor))) {
      divisors.push_back(1);
    } else if (wavelength > in.cast(python.divide(original, llama3.low_freq_factor))) {
      divisors.push_back(in.cast(llama3.factor));
    } else {
      const double share =
          in.divide(in.subtract(in.divide(in.cast(original), wavelength), in.cast(llama3.low_freq_factor)),
                    in.cast(python.subtract(llama3.high_freq_factor, llama3.low_freq_factor)));
      divisors.push_back(in.divide(1, in.add(in.divide(in.subtract(1, share), in.cast(llama3.factor)), share)));
    }
  }
  return divisors;
}

std::optional<RecipeFrequencies> steps_product(const Recipe& recipe, const Series& series, const RopeScaling& scaling,
                                               std::int64_t sequence_length) {
  const Arithmetic in{recipe.frequency};
  RecipeFrequencies result;
  result.ratio = in.power(in.cast(series.base), in.divide(-2, in.cast(static_cast<double>(series.width))));
  if (const auto* linear = std::get_if<LinearScaling>(&scaling)) {
    result.angle_factor = in.divide(1, in.cast(linear->factor));
  } else if (const auto* llama3 = std::get_if<Llama3Scaling>(&scaling)) {
    result.divisors = llama3_divisors(*llama3, series, in);
  } else if (const auto* longrope = std::get_if<LongropeScaling>(&scaling)) {
    const bool is_long = sequence_length > longrope->original_max_position_embeddings;
    for (const double factor : is_long ? longrope->long_factor : longrope->short_factor)
      result.divisors.push_back(in.cast(factor));
    result.factor = factor_of(*longrope, sequence_length);
  } else if (!std::holds_alternative<DefaultScaling>(scaling)) {
    return std::nullopt;
  }
  return result;
}

// Positions divided by powers; linear scaling divides once more.
std::optional<RecipeFrequencies> quotient(const Recipe& recipe, const Series& series, const RopeScaling& scaling) {
  const Arithmetic in{recipe.frequency};
  RecipeFrequencies result;
  result.divisors = series.powers(in);
  if (const auto* linear = std::get_if<LinearScaling>(&scaling)) {
    result.angle_divisor = in.cast(linear->factor);
  } else if (!std::holds_alternative<DefaultScaling>(scaling)) {
    return std::nullopt;
  }
  return result;
}

// TensorRT-LLM's linear scaling divides its reciprocal by the powers; its other rules are made in other ways.
std::optional<RecipeFrequencies> of_wide_power(const Recipe& recipe, const Series& series, const RopeScaling& scaling) {
  const Arithmetic in{recipe.frequency};
  double scale = 1;
  if (const auto* linear = std::get_if<LinearScaling>(&scaling)) {
    scale = in.cast(python.divide(1, linear->factor));
  } else if (!std::holds_alternative<DefaultScaling>(scaling)) {
    return std::nullopt;
  }
  RecipeFrequencies result;
  for (const double power : series.powers(python)) result.radians.push_back(in.divide(scale, in.cast(power)));
  return result;
}

// What is cast on the way to the angle and the table.
std::optional<RecipeFrequencies> cast(const Recipe& recipe, std::optional<RecipeFrequencies> exact) {
  if (!exact) return std::nullopt;
  for (double& w : exact->radians) w = round_to(recipe.angle, w);
  exact->factor = round_to(recipe.table, exact->factor);
  return exact;
}

}  // namespace

std::optional<RecipeFrequencies> recipe_frequencies(const Recipe& recipe, const Sinusoidal& encoding) {
  // Recipes are of whole positions; none is written down for timestep embeddings.
  const bool whole = encoding.positions.dtype == Dtype::int64;
  if (!whole || encoding.angle_scale != 1 || encoding.dim % 2 != 0 || encoding.downscale_freq_shift > 1)
    return std::nullopt;
  const auto denominator = encoding.downscale_freq_shift == 0 ? Denominator::dim : Denominator::half_minus_one;
  const Series series{encoding.base, encoding.dim, pairs(encoding), denominator};
  std::optional<RecipeFrequencies> result;
  switch (recipe.form) {
    case FrequencyForm::reciprocal_of_power:
    case FrequencyForm::power:
    case FrequencyForm::exponential:
      result = RecipeFrequencies{.radians = series.frequencies(recipe.form, Arithmetic{recipe.frequency})};
      break;
    case FrequencyForm::running_product:
      if (denominator == Denominator::dim) result = steps_product(recipe, series, DefaultScaling{}, 0);
      break;
    case FrequencyForm::quotient_by_power:
      if (denominator == Denominator::dim) result = quotient(recipe, series, DefaultScaling{});
      break;
    case FrequencyForm::reciprocal_of_wide_power:
    case FrequencyForm::exponential_of_narrow_logarithm: break;
  }
  if (result) result->factor = encoding.scale;
  return cast(recipe, std::move(result));
}

std::optional<RecipeFrequencies> recipe_frequencies(const Recipe& recipe, const Rope& encoding,
                                                    std::int64_t sequence_length) {
  if (encoding.positions.dtype != Dtype::int64) return std::nullopt;
  const Arithmetic in{recipe.frequency, recipe.functions};
  const std::int64_t width = rotary_width(encoding);
  const Series series{encoding.rope_theta, width, pairs(encoding), Denominator::dim};
  switch (recipe.form) {
    case FrequencyForm::running_product:
      return cast(recipe, steps_product(recipe, series, encoding.rope_scaling, sequence_length));
    case FrequencyForm::quotient_by_power: return cast(recipe, quotient(recipe, series, encoding.rope_scaling));
    case FrequencyForm::reciprocal_of_wide_power:
      return cast(recipe, of_wide_power(recipe, series, encoding.rope_scaling));
    case FrequencyForm::exponential_of_narrow_logarithm:
      if (!std::holds_alternative<DefaultScaling>(encoding.rope_scaling)) return std::nullopt;
      break;
    case FrequencyForm::reciprocal_of_power:
    case FrequencyForm::power:
    case FrequencyForm::exponential: break;
  }
  return cast(recipe, std::visit(Scaling{encoding, series, recipe.form, in, sequence_length}, encoding.rope_scaling));
}

}  // namespace sextant::reference
