#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>

#include "lib/numeric/dtype.hpp"
#include "lib/numeric/user_error.hpp"
#include "lib/spec/attention.hpp"
#include "lib/spec/operation.hpp"
#include "lib/spec/position_encoding.hpp"
#include "lib/spec/qk_norm_rope.hpp"
#include "lib/spec/rotary_table.hpp"

namespace sextant {

// What an implementation claims to compute: plain values, with the field names and defaults of the JSON form. A Spec
// made by hand must satisfy what parse_spec checks; `validate` tells.

/// How accurate an implementation claims to be, strictest first; properties/model/budget.hpp derives the bounds.
enum class AccuracyClass {
  correctly_rounded,
  faithful,
  exact_angle,
  pair_norm,
  float32_angle,
  float32_recurrence,
  float16_angle,
  bfloat16_angle
};

/// The arithmetic that a value is formed in, from sine and cosine on: float32 (float64 for float64), its result rounded
/// to the dtype once; or the same with a table whose entries are rounded to a 16-bit dtype; or that dtype itself, to
/// which the table and the result of each operation on tensors are rounded, sums within one (of a matrix product, a
/// softmax) being float32's; or that, and sums rounded term by term.
enum class Evaluation { float32, table, dtype, dtype_accumulate };

/// Every encoding a spec may name: the encodings of a position, the table that is kept of one, one with the norm before
/// it, and attention with one of them or none.
using Encoding = Extended<PositionEncoding, RotaryTable, QkNormRope, Attention>::Type;

/// A claim: an encoding, the dtype of its values, and the positions min_position <= p < max_position it reaches over.
/// Encodings of so many positions and no more (binary, sinusoidal_2d, sinusoidal_nd, learned, fourier of cells) claim
/// no others: an absent max_position is then their number if that is below 131072. All three positions count steps of
/// the encoding's PositionGrid, which are 1 but for real positions; in JSON they are positions. With several axes each
/// coordinate lies in that range, and in its own extent of a grid.
struct Spec {
  Encoding encoding;
  Dtype dtype = Dtype::float32;
  std::int64_t min_position = 0;
  std::int64_t max_position = 131072;
  AccuracyClass accuracy = AccuracyClass::float32_angle;
  Evaluation evaluation = Evaluation::float32;
  double libm = 1;  ///< how many ULP pow, exp, log, sin and cos may be off by
  /// The first position that a model was not trained on; nothing where the claim does not say.
  std::optional<std::int64_t> trained_positions;

  // As the compiler writes them, but once: copying a variant of every encoding takes long to compile.
  Spec();
  ~Spec();
  Spec(const Spec&);
  Spec(Spec&&) noexcept;
  Spec& operator=(const Spec&);
  Spec& operator=(Spec&&) noexcept;
};

/// A spec that cannot be taken. what() is one line that names the field and what was expected of it.
class SpecError : public std::invalid_argument, public UserError {
 public:
  using std::invalid_argument::invalid_argument;
};

/// "sinusoidal", "rope", ...
std::string_view encoding_name(const Spec& spec);
std::string_view encoding_name(const PositionEncoding& encoding);

/// What a subject is asked about a valid encoding.
Signature signature_of(const Encoding& encoding);
Signature signature_of(const PositionEncoding& encoding);
/// The operation that answers for it.
Operation operation_of(const Encoding& encoding);
/// In what steps a spec of this encoding counts positions: its signature's.
PositionGrid position_grid_of(const Encoding& encoding);
/// How many coordinates a position has: sections of rope_nd, extents of sinusoidal_nd, axes of fourier, 2 for
/// sinusoidal_2d, 1 for the others.
std::int64_t axes_of(const Encoding& encoding);
/// The positions that an encoding has, first <= p < end, on its longest axis; nothing where it has all.
struct PositionBounds {
  std::int64_t first = 0;
  std::int64_t end = 0;
};
std::optional<PositionBounds> position_bounds_of(const Encoding& encoding);
/// How many values an encoding has for each position, "dim"; nothing for those that are no codes.
std::optional<std::int64_t> width_of(const Encoding& encoding);

/// An encoding by its name, and the least spec of it as parse_spec reads it: what is left out has its default.
struct EncodingExample {
  std::string_view encoding;
  std::string_view spec;
};

/// One for each encoding that a spec can name, in the order of `sextant list encodings`.
std::span<const EncodingExample> encoding_examples();

/// The claim of what a program keeps in a file for a claim: of a code itself, of a rope its table; nothing where no
/// file holds one row for each position. @throws SpecError where a table cannot have what the claim says.
std::optional<Spec> recorded_claim(const Spec& spec);

/// "float32-angle", ...
std::string_view name_of(AccuracyClass accuracy);

/// @throws SpecError, naming the field, unless every field is in its domain.
void validate(const Spec& spec);

/// Reads the JSON form. Defaults fill absent fields; numbers are taken exactly as the double they parse to.
/// @throws SpecError for text that is no JSON object, unknown or repeated fields, wrong types and values out of domain.
Spec parse_spec(std::string_view json);

/// The JSON form with every field written, one line, but `evaluation` and `libm` where they have their defaults, and
/// `trained_positions` where it is not given;
/// parse_spec(to_json(s)) gives s again.
std::string to_json(const Spec& spec);

/// "sinusoidal dim 512, base 10000, layout interleaved, float32": one line for a person, without positions and
/// accuracy. It names the encoding's sizes, base and layout, every other field that differs from its default, and the
/// dtype.
std::string describe(const Spec& spec);

}  // namespace sextant
