#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "lib/numeric/dtype.hpp"

namespace sextant {

// What an implementation claims to compute: plain values, with the field names and defaults of the JSON form. A Spec
// made by hand must satisfy what parse_spec checks; `validate` tells.

/// Order of a sinusoidal code's channels: sin and cos of a frequency side by side, or all of one, then all of the other.
enum class Layout { interleaved, concatenated };
/// Which of the two comes first.
enum class First { sin, cos };
/// The divisor of the frequency exponent: base^(-2i/dim), or base^(-i/(dim/2 - 1)) as tensor2tensor has it.
enum class Denominator { dim, half_minus_one };

/// Vaswani et al. 2017, section 3.5: with w_i = base^(-2i/dim) and i = 0 .. dim/2 - 1,
///   PE(p, 2i) = scale * sin(w_i (p + position_offset)),  PE(p, 2i+1) = scale * cos(w_i (p + position_offset)).
struct Sinusoidal {
  std::int64_t dim = 0;
  double base = 10000;
  Layout layout = Layout::interleaved;
  First first = First::sin;
  Denominator denominator = Denominator::dim;
  std::int64_t position_offset = 0;
  double scale = 1;
};

/// Which channels one frequency turns, of the rotary_dim or (spread) head_dim channels at hand: (2i, 2i+1) as in GPT-J,
/// or (i, i + half of them) as in GPT-NeoX.
enum class Pairing { interleaved, half };
/// Where the rotated pairs lie under partial rotary: in the first rotary_dim channels, or as the first rotary_dim/2 of
/// the full head's pairs, the others standing still (frequency 0).
enum class RotaryLayout { prefix, spread };
/// (x0, x1) -> (x0 cos - x1 sin, x0 sin + x1 cos), or its transpose.
enum class Direction { counterclockwise, clockwise };

/// Su et al. 2021 (RoFormer), section 3.2.2, equation 15: pair i of the vector at position p turns by the angle p w_i,
/// w_i = rope_theta^(-2i/n), n = rotary_dim for the prefix layout and head_dim for the spread one.
struct Rope {
  std::int64_t head_dim = 0;
  std::int64_t rotary_dim = 0;
  double rope_theta = 10000;
  Pairing pairing = Pairing::half;
  Pairing output_pairing = Pairing::half;
  RotaryLayout rotary_layout = RotaryLayout::prefix;
  Direction direction = Direction::counterclockwise;
};

/// How accurate an implementation claims to be, strictest first; properties/budget.hpp derives the bounds.
enum class AccuracyClass { correctly_rounded, faithful, exact_angle, float32_angle, float16_angle, bfloat16_angle };

/// A claim: an encoding, the dtype of its values, and the positions min_position <= p < max_position it reaches over.
struct Spec {
  std::variant<Sinusoidal, Rope> encoding;
  Dtype dtype = Dtype::float32;
  std::int64_t min_position = 0;
  std::int64_t max_position = 131072;
  AccuracyClass accuracy = AccuracyClass::float32_angle;
};

/// A spec that cannot be taken. what() is one line that names the field and what was expected of it.
class SpecError : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

/// The two channels that one frequency turns.
struct Channels {
  std::int64_t first;
  std::int64_t second;
};

/// Number of frequencies: dim/2.
std::int64_t pairs(const Sinusoidal& encoding);
/// Number of frequencies that turn anything: rotary_dim/2.
std::int64_t pairs(const Rope& encoding);

/// The channels of sin (first) and cos (second) of frequency `pair`.
Channels channels_of_pair(const Sinusoidal& encoding, std::int64_t pair);
/// The channels of frequency `pair` under a pairing (pass encoding.pairing for the input, output_pairing for the output).
Channels channels_of_pair(const Rope& encoding, Pairing pairing, std::int64_t pair);

/// For each output channel that no frequency turns, the input channel whose value it carries unchanged.
struct Passthrough {
  std::int64_t output;
  std::int64_t input;
};
std::vector<Passthrough> passthrough_channels(const Rope& encoding);

/// "sinusoidal", "rope".
std::string_view encoding_name(const Spec& spec);
/// "float32-angle", ...
std::string_view name_of(AccuracyClass accuracy);

/// @throws SpecError, naming the field, unless every field is in its domain.
void validate(const Spec& spec);

/// Reads the JSON form. Defaults fill absent fields; numbers are taken exactly as the double they parse to.
/// @throws SpecError for text that is no JSON object, unknown or repeated fields, wrong types and values out of domain.
Spec parse_spec(std::string_view json);

/// The JSON form with every field written, one line; parse_spec(to_json(s)) gives s again.
std::string to_json(const Spec& spec);

/// "sinusoidal dim 512 float32": one line for a person.
std::string describe(const Spec& spec);

}  // namespace sextant
