#include "lib/spec/sinusoidal.hpp"

#include <cmath>

#include "lib/spec/encoding_entry.hpp"

namespace sextant {
namespace {

constexpr Names<Layout, 2> layouts{{{"interleaved", Layout::interleaved}, {"concatenated", Layout::concatenated}}};
constexpr Names<First, 2> firsts{{{"sin", First::sin}, {"cos", First::cos}}};
constexpr Names<Denominator, 2> denominators{
    {{"dim", Denominator::dim}, {"half_minus_one", Denominator::half_minus_one}}};

}  // namespace

std::int64_t pairs(const Sinusoidal& encoding) { return encoding.dim / 2; }

Channels channels_of_pair(const Sinusoidal& encoding, std::int64_t pair) {
  const bool interleaved = encoding.layout == Layout::interleaved;
  const std::int64_t earlier = interleaved ? 2 * pair : pair;
  const std::int64_t later = interleaved ? 2 * pair + 1 : pair + pairs(encoding);
  return encoding.first == First::sin ? Channels{earlier, later} : Channels{later, earlier};
}

namespace {

Sinusoidal read(Fields& fields) {
  Sinusoidal encoding;
  const auto dim = fields.integer("dim");
  if (!dim) fields.refuse("dim", "required");
  encoding.dim = *dim;
  encoding.base = fields.number("base").value_or(encoding.base);
  encoding.layout = fields.choice("layout", layouts, encoding.layout);
  encoding.first = fields.choice("first", firsts, encoding.first);
  encoding.denominator = fields.choice("denominator", denominators, encoding.denominator);
  encoding.position_offset = fields.integer("position_offset").value_or(encoding.position_offset);
  encoding.scale = fields.number("scale").value_or(encoding.scale);
  return encoding;
}

void check(const Sinusoidal& encoding) {
  check_even_width("dim", encoding.dim);
  check_base("base", encoding.base);
  if (encoding.denominator == Denominator::half_minus_one && encoding.dim < 4) {
    refuse_field("denominator", "half_minus_one divides by dim/2 - 1, so dim must be at least 4");
  }
  if (encoding.position_offset < -position_limit || encoding.position_offset > position_limit) {
    refuse_field("position_offset", "expected an integer from -2^53 to 2^53");
  }
  if (!std::isfinite(encoding.scale) || encoding.scale == 0)
    refuse_field("scale", "expected a finite number other than 0");
}

void write(const Sinusoidal& encoding, nlohmann::ordered_json& object) {
  object["dim"] = encoding.dim;
  object["base"] = encoding.base;
  object["layout"] = text_of(layouts, encoding.layout);
  object["first"] = text_of(firsts, encoding.first);
  object["denominator"] = text_of(denominators, encoding.denominator);
  object["position_offset"] = encoding.position_offset;
  object["scale"] = encoding.scale;
}

std::string size_text(const Sinusoidal& encoding) { return fmt::format("dim {}", encoding.dim); }

Signature signature(const Sinusoidal& encoding) { return {.dim = encoding.dim, .recording = Recording::rows}; }

constexpr FieldMeaning field_meanings[] = {
    {"dim", "channels, two for each frequency"},
    {"base", "what the frequencies are powers of: base^(-2i/dim)"},
    {"layout",
     "interleaved: sine and cosine of a frequency side by side; concatenated: all of one, then all of the other"},
    {"first", "which of the two comes first: sin or cos"},
    {"denominator", "of the exponent: dim: base^(-2i/dim); half_minus_one: base^(-i/(dim/2 - 1))"},
    {"position_offset", "added to positions"},
    {"scale", "multiplies every value"},
};

}  // namespace

constinit const EncodingEntry<Sinusoidal> Sinusoidal::entry{.name = "sinusoidal",
                                                            .example = R"({"encoding":"sinusoidal","dim":512})",
                                                            .fields = listed<field_meanings>,
                                                            .read = read,
                                                            .check = check,
                                                            .write = write,
                                                            .size_text = size_text,
                                                            .signature = signature};

}  // namespace sextant
