#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/numeric/dtype.hpp"
#include "lib/spec/rope.hpp"
#include "lib/spec/sinusoidal.hpp"
#include "reference/fast_rotations.hpp"
#include "reference/stages.hpp"

namespace sextant::reference {

/// How frequencies are computed. Below fl() is one rounding in the recipe's format, e_i = fl(fl(2i)/n), and n the width
/// of the frequencies; for a sinusoid with half_minus_one e_i = fl(i/(n/2 - 1)).
enum class FrequencyForm {
  reciprocal_of_power,  // fl(1 / fl(base^e_i)): Hugging Face's modeling_rope_utils
  power,                // fl(base^-e_i)
  exponential,      // fl(exp(fl(2i c))), c = fl(-ln(base)/n) formed in float64 first: the PyTorch tutorial's div_term
  running_product,  // no frequencies: the angle itself is a product, t_0 = p, t_(i+1) = fl(t_i fl(base^fl(-2/n))): ggml
  reciprocal_of_wide_power,         // fl(1 / fl(base^e_i)), the power and e_i in float64 first: TensorRT-LLM
  exponential_of_narrow_logarithm,  // exponential, c = fl(fl(ln base)/(n/2)) formed in the format itself: MLX
  quotient_by_power  // no frequencies: the angle itself is a quotient, fl(p / fl(base^e_i)): Gemma and MaxText in JAX
};

/// Where the products and the sum of a rotation are rounded.
enum class Application {
  in_dtype,  // the table is cast to the dtype of x; products and sum are rounded in it: PyTorch's q*cos + rotate(q)*sin
  widened,   // in the table's own format, each product and the sum rounded; the result is cast
  cast_table,  // the table is cast to the dtype of x, products and sum are those of its own format; the result is cast
};

/// Which of the two products of a sum is rounded. A compiler that may contract leaves one of them exact.
enum class Products {
  rounded,       // both: fl(fl(x0 c) - fl(x1 s)), fl(fl(x1 c) + fl(x0 s))
  fused_first,   // the cosine's is exact: fma(x0, c, -(x1 s)), fma(x1, c, x0 s)
  fused_second,  // the sine's is exact: fma(-x1, s, x0 c), fma(x0, s, x1 c)
  fused_x0,      // that of x0 is exact: fma(x0, c, -(x1 s)), fma(x0, s, x1 c)
};

/// Whose exponentials, sines and cosines: rounded to nearest, once, or those of cephes.hpp, in float32 alone.
enum class Functions { correctly_rounded, cephes };

/// A choice of arithmetic at each stage, as implementations in use make it. Sums, products, quotients and, unless a
/// recipe names others, elementary functions are rounded to nearest, each once: a subject whose library is off by an
/// ULP somewhere differs from its recipe there.
struct Recipe {
  std::string_view name;
  std::string_view source;  // whose arithmetic it is
  FrequencyForm form;
  Dtype frequency;  // the format in which frequencies are computed, step by step
  Dtype angle;      // frequencies and positions are cast to this, and their product rounded in it
  Dtype table;      // sine and cosine of the angle are rounded to this, and times the attention factor or scale again
  Application application;
  Products products = Products::rounded;
  Functions functions = Functions::correctly_rounded;
};

/// All that Sextant knows; names are unique.
std::span<const Recipe> recipes();

/// @throws std::invalid_argument for a name that is none of them.
const Recipe& recipe_named(std::string_view name);

/// The frequencies of a recipe, in calls of `sequence_length`, as values of recipe.angle, and the factor that
/// multiplies sine and cosine as a value of recipe.table. Rope's scaling rules follow Hugging Face's order of
/// operations. Nothing where no deployed code of this kind is known: ntk and proportional scaling, any scaling but
/// linear, llama3 and longrope in a running product, any but linear in a quotient, half_minus_one in either. Of other
/// encodings none is known at all.
struct RecipeFrequencies {
  std::vector<double> radians;  // empty for a running product and a quotient
  double ratio = 1;             // of a running product
  double angle_factor = 1;      // linear scaling of a running product: fl(1/factor), times each angle
  double factor = 1;
  std::vector<double> divisors = {};  // of a running product, each angle's own; of a quotient fl(base^e_i); empty for 1
  double angle_divisor = 1;           // linear scaling of a quotient: each angle divided once more
};
std::optional<RecipeFrequencies> recipe_frequencies(const Recipe& recipe, const Sinusoidal& encoding);
std::optional<RecipeFrequencies> recipe_frequencies(const Recipe& recipe, const Rope& encoding,
                                                    std::int64_t sequence_length);

/// The stages of a recipe carried out bit for bit, for any list of frequencies. An object belongs to one thread.
class RecipeStages {
 public:
  RecipeStages(const Recipe& recipe, RecipeFrequencies frequencies, std::int64_t pairs);

  const Recipe& recipe() const { return recipe_; }
  void set_frequencies(RecipeFrequencies frequencies) { frequencies_ = std::move(frequencies); }

  /// What the recipe has at each stage for every pair where the angle is that of `position`; `table` holds sin and cos
  /// times the factor, as values of recipe.table. In a running product `frequency` is angle / position, rounded to
  /// double. The reference is good until the next call.
  const std::vector<Intermediates>& at(std::int64_t position);

 private:
  Recipe recipe_;
  RecipeFrequencies frequencies_;
  std::vector<Intermediates> row_;
  std::vector<double> angles_;
  RotationRow rotations_;
};

/// A recipe's sinusoidal table. An object belongs to one thread.
class SinusoidalEmulation {
 public:
  /// Nothing where recipe_frequencies has nothing.
  static std::optional<SinusoidalEmulation> of(const Recipe& recipe, const Sinusoidal& encoding, Dtype dtype);

  /// The stages at a place, which is a position with the offset added.
  const std::vector<Intermediates>& at(std::int64_t place) { return stages_.at(place); }

  /// Row `position`, [dim] values of the dtype.
  std::vector<double> encode(std::int64_t position);

 private:
  SinusoidalEmulation(RecipeStages stages, const Sinusoidal& encoding, Dtype dtype)
      : stages_(std::move(stages)), encoding_(encoding), dtype_(dtype) {}

  RecipeStages stages_;
  Sinusoidal encoding_;
  Dtype dtype_;
};

/// A recipe's rotation. An object belongs to one thread.
class RopeEmulation {
 public:
  /// Nothing where recipe_frequencies has nothing.
  static std::optional<RopeEmulation> of(const Recipe& recipe, const Rope& encoding, Dtype dtype);

  /// The stages at one position of a call of `sequence_length`.
  const std::vector<Intermediates>& at(std::int64_t position, std::int64_t sequence_length);

  /// A pair rotated by what `at` gave for it: values of the dtype. x are values of it too.
  struct Pair {
    double first;
    double second;
  };
  Pair rotate(const Intermediates& had, double x0, double x1) const;

 private:
  RopeEmulation(RecipeStages stages, const Rope& encoding, Dtype dtype)
      : stages_(std::move(stages)), encoding_(encoding), dtype_(dtype) {}

  RecipeStages stages_;
  Rope encoding_;
  Dtype dtype_;
  std::int64_t length_ = 0;  // that the frequencies are of
};

}  // namespace sextant::reference
