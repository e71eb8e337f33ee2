#include "lib/spec/sinusoidal.hpp"

#include <cmath>
#include <limits>

#include "lib/spec/encoding_entry.hpp"

namespace sextant {
namespace spec_sinusoidal {
namespace {

constexpr Names<Layout, 2> layouts{{{"interleaved", Layout::interleaved}, {"concatenated", Layout::concatenated}}};
constexpr Names<First, 2> firsts{{{"sin", First::sin}, {"cos", First::cos}}};
// The shifts that the field `denominator` has names for.
constexpr Names<std::int64_t, 2> denominators{{{"dim", 0}, {"half_minus_one", 1}}};
constexpr std::int64_t longest_named_shift = 1;

// What sine and cosine are exact to 2^-192 turn with, at any position (lib/kernels/turns.cpp).
constexpr double largest_angle_scale = 0x1p20;

// The slowest frequency is no slower than that of the largest base, 2^-1024.
constexpr double largest_exponent = std::numeric_limits<double>::max_exponent;

}  // namespace
}  // namespace spec_sinusoidal

std::int64_t pairs(const Sinusoidal& encoding) { return encoding.dim / 2; }

Channels channels_of_pair(const Sinusoidal& encoding, std::int64_t pair) {
  const bool interleaved = encoding.layout == Layout::interleaved;
  const std::int64_t earlier = interleaved ? 2 * pair : pair;
  const std::int64_t later = interleaved ? 2 * pair + 1 : pair + pairs(encoding);
  return encoding.first == First::sin ? Channels{earlier, later} : Channels{later, earlier};
}

std::optional<std::int64_t> padding_channel(const Sinusoidal& encoding) {
  return encoding.dim % 2 == 0 ? std::nullopt : std::optional(encoding.dim - 1);
}

double angles_per_step(const Sinusoidal& encoding) { return encoding.angle_scale * encoding.positions.step; }

namespace spec_sinusoidal {
namespace {

// The shift by either of its two names.
std::int64_t read_shift(Fields& fields) {
  const auto shift = fields.integer("downscale_freq_shift");
  const bool named = fields.has("denominator");
  const std::int64_t by_name = fields.choice("denominator", denominators, std::int64_t{0});
  if (shift && named && *shift != by_name) {
    fields.refuse("denominator", fmt::format("{} is a downscale_freq_shift of {}, and contradicts {}",
                                             text_of("denominator", denominators, by_name), by_name, *shift));
  }
  return shift.value_or(by_name);
}

Sinusoidal read(Fields& fields) {
  Sinusoidal encoding;
  const auto dim = fields.integer("dim");
  if (!dim) fields.refuse("dim", "required");
  encoding.dim = *dim;
  encoding.base = fields.number("base").value_or(encoding.base);
  encoding.layout = fields.choice("layout", layouts, encoding.layout);
  encoding.first = fields.choice("first", firsts, encoding.first);
  encoding.downscale_freq_shift = read_shift(fields);
  encoding.position_offset = fields.integer("position_offset").value_or(encoding.position_offset);
  encoding.scale = fields.number("scale").value_or(encoding.scale);
  encoding.angle_scale = fields.number("angle_scale").value_or(encoding.angle_scale);
  encoding.positions = read_position_grid(fields);
  return encoding;
}

void check(const Sinusoidal& encoding) {
  if (encoding.layout == Layout::concatenated && encoding.dim % 2 == 1) {
    if (encoding.dim < 3 || encoding.dim > width_limit)
      refuse_field("dim", fmt::format("expected a number from 2 to {}, got {}", width_limit, encoding.dim));
  } else {
    check_even_width("dim", encoding.dim);
  }
  check_base("base", encoding.base);
  const std::int64_t shift = encoding.downscale_freq_shift;
  if (shift == longest_named_shift && pairs(encoding) < 2) {
    refuse_field("denominator", "half_minus_one divides by dim/2 - 1, so dim must be at least 4");
  }
  if (shift < 0 || shift >= pairs(encoding)) {
    refuse_field("downscale_freq_shift",
                 fmt::format("expected an integer from 0 to dim/2 - 1 = {}, got {}", pairs(encoding) - 1, shift));
  }
  // base^(-(h-1)/(h-s)); of shifts 0 and 1 it is at least 1/base.
  const auto slowest = static_cast<double>(pairs(encoding) - 1) / static_cast<double>(pairs(encoding) - shift);
  if (shift > longest_named_shift && slowest * std::log2(encoding.base) > largest_exponent) {
    refuse_field(
        "downscale_freq_shift",
        fmt::format("the last frequency, base^-{:.6g}, is below every double: expected a smaller shift, got {}",
                    slowest, shift));
  }
  if (encoding.position_offset < -position_limit || encoding.position_offset > position_limit) {
    refuse_field("position_offset", "expected an integer from -2^53 to 2^53");
  }
  if (!std::isfinite(encoding.scale) || encoding.scale == 0)
    refuse_field("scale", "expected a finite number other than 0");
  if (!(encoding.angle_scale >= 1 / largest_angle_scale && encoding.angle_scale <= largest_angle_scale)) {
    refuse_field("angle_scale", fmt::format("expected a number from 2^-20 to 2^20, got {}", encoding.angle_scale));
  }
  check_position_grid(encoding.positions);
  if (encoding.positions.dtype != Dtype::int64 && encoding.position_offset != 0) {
    refuse_field("position_offset", "expected 0 for real positions: no published code adds one to them");
  }
}

void write(const Sinusoidal& encoding, nlohmann::ordered_json& object) {
  object["dim"] = encoding.dim;
  object["base"] = encoding.base;
  object["layout"] = text_of("layout", layouts, encoding.layout);
  object["first"] = text_of("first", firsts, encoding.first);
  if (encoding.downscale_freq_shift >= 0 && encoding.downscale_freq_shift <= longest_named_shift)
    object["denominator"] = text_of("denominator", denominators, encoding.downscale_freq_shift);
  else
    object["downscale_freq_shift"] = encoding.downscale_freq_shift;
  object["position_offset"] = encoding.position_offset;
  object["scale"] = encoding.scale;
  if (encoding.angle_scale != 1) object["angle_scale"] = encoding.angle_scale;
  write_position_grid(encoding.positions, object);
}

void check_within(const Sinusoidal& encoding, const Attention&) {
  if (encoding.positions.dtype != Dtype::int64)
    refuse_field("position.position_dtype", "expected int64: attention takes whole positions");
}

Signature signature(const Sinusoidal& encoding) {
  // A row of a file is found by a whole number.
  const Recording recording = encoding.positions.dtype == Dtype::int64 ? Recording::rows : Recording::none;
  return {.dim = encoding.dim, .recording = recording, .positions = encoding.positions};
}

constexpr std::string_view described[] = {"dim", "base", "layout"};

constexpr FieldMeaning field_meanings[] = {
    {"dim", "channels, two for each frequency; an odd one has a last channel of 0, concatenated alone"},
    {"base", "what the frequencies are powers of: base^(-2i/dim); max_period of a timestep embedding"},
    {"layout",
     "interleaved: sine and cosine of a frequency side by side; concatenated: all of one, then all of the other"},
    {"first", "which of the two comes first: sin or cos"},
    {"denominator", "of the exponent: dim: base^(-2i/dim); half_minus_one: base^(-i/(dim/2 - 1))"},
    {"downscale_freq_shift", "in place of denominator, s in base^(-i/(dim/2 - s)): 0 is dim, 1 half_minus_one"},
    {"position_offset", "added to positions"},
    {"scale", "multiplies every value"},
    {"angle_scale", "multiplies every angle, from 2^-20 to 2^20"},
};

std::vector<FieldMeaning> fields() {
  std::vector<FieldMeaning> list = listed<field_meanings>();
  list.insert(list.end(), position_grid_fields().begin(), position_grid_fields().end());
  return list;
}

}  // namespace
}  // namespace spec_sinusoidal

constinit const EncodingEntry<Sinusoidal> Sinusoidal::entry{.name = "sinusoidal",
                                                            .example = R"({"encoding":"sinusoidal","dim":512})",
                                                            .fields = spec_sinusoidal::fields,
                                                            .read = spec_sinusoidal::read,
                                                            .check = spec_sinusoidal::check,
                                                            .write = spec_sinusoidal::write,
                                                            .described = spec_sinusoidal::described,
                                                            .signature = spec_sinusoidal::signature,
                                                            .check_within = spec_sinusoidal::check_within};

}  // namespace sextant
