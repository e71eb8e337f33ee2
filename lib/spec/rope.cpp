#include "lib/spec/rope.hpp"

#include "lib/spec/encoding_entry.hpp"

namespace sextant {
namespace spec_rope {
namespace {

constexpr Names<Pairing, 2> pairings{{{"interleaved", Pairing::interleaved}, {"half", Pairing::half}}};
constexpr Names<RotaryLayout, 3> rotary_layouts{
    {{"prefix", RotaryLayout::prefix}, {"spread", RotaryLayout::spread}, {"suffix", RotaryLayout::suffix}}};
constexpr Names<Direction, 2> directions{
    {{"counterclockwise", Direction::counterclockwise}, {"clockwise", Direction::clockwise}}};

std::int64_t read_rotary_dim(Fields& fields, std::int64_t head_dim) {
  const auto rotary_dim = fields.integer("rotary_dim");
  const auto factor = fields.number("partial_rotary_factor");
  if (!factor) return rotary_dim.value_or(head_dim);
  if (!(*factor > 0 && *factor <= 1))
    fields.refuse("partial_rotary_factor", fmt::format("expected a number above 0 and at most 1, got {}", *factor));
  // Truncated, as Hugging Face's configurations read it: int(head_dim * partial_rotary_factor).
  const auto product = static_cast<std::int64_t>(static_cast<double>(head_dim) * *factor);
  if (rotary_dim && *rotary_dim != product) {
    fields.refuse("rotary_dim",
                  fmt::format("{} contradicts partial_rotary_factor, which makes it {}", *rotary_dim, product));
  }
  if (product < 2 || product % 2 != 0) {
    fields.refuse("partial_rotary_factor",
                  fmt::format("head_dim {} times {} makes rotary_dim {}, expected an even number of at least 2",
                              head_dim, *factor, product));
  }
  return product;
}

}  // namespace
}  // namespace spec_rope

std::int64_t pairs(const Rope& encoding) {
  return std::holds_alternative<NoTurning>(encoding.rope_scaling) ? 0 : encoding.rotary_dim / 2;
}

std::int64_t rotary_width(const Rope& encoding) {
  return encoding.rotary_layout == RotaryLayout::spread ? encoding.head_dim : encoding.rotary_dim;
}

std::int64_t first_rotary_channel(const Rope& encoding) {
  return encoding.rotary_layout == RotaryLayout::suffix ? encoding.head_dim - encoding.rotary_dim : 0;
}

Channels channels_of_pair(const Rope& encoding, Pairing pairing, std::int64_t pair) {
  const std::int64_t start = first_rotary_channel(encoding);
  if (pairing == Pairing::interleaved) return {start + 2 * pair, start + 2 * pair + 1};
  const std::int64_t half = rotary_width(encoding) / encoding.parts / 2;
  const std::int64_t first = start + pair / half * 2 * half + pair % half;
  return {first, first + half};
}

std::vector<Passthrough> passthrough_channels(const Rope& encoding) {
  std::vector<Passthrough> channels;
  if (encoding.rotary_layout != RotaryLayout::spread) {
    const std::int64_t turned = first_rotary_channel(encoding);
    for (std::int64_t i = 0; i < encoding.head_dim; ++i) {
      if (i < turned || i >= turned + encoding.rotary_dim) channels.push_back({i, i});
    }
  }
  // The pairs that stand still move from the input's pairing to the output's all the same.
  for (std::int64_t pair = pairs(encoding); pair < rotary_width(encoding) / 2; ++pair) {
    const Channels from = channels_of_pair(encoding, encoding.pairing, pair);
    const Channels to = channels_of_pair(encoding, encoding.output_pairing, pair);
    channels.push_back({to.first, from.first});
    channels.push_back({to.second, from.second});
  }
  return channels;
}

Ladders ladders_of(const Rope& encoding) {
  Ladders one{{{encoding}}, {}};
  for (std::int64_t pair = 0; pair < pairs(encoding); ++pair) one.places.push_back({0, pair});
  return one;
}

namespace spec_rope {
namespace {

Rope read(Fields& fields) {
  Rope encoding;
  const auto head_dim = fields.integer("head_dim");
  if (!head_dim) fields.refuse("head_dim", "required");
  if (*head_dim < 2 || *head_dim > (std::int64_t{1} << 20))
    fields.refuse("head_dim", fmt::format("expected an even number from 2 to 1048576, got {}", *head_dim));
  encoding.head_dim = *head_dim;
  encoding.rotary_dim = read_rotary_dim(fields, encoding.head_dim);
  encoding.rope_theta = fields.number("rope_theta").value_or(encoding.rope_theta);
  encoding.pairing = fields.choice("pairing", pairings, encoding.pairing);
  encoding.output_pairing = fields.choice("output_pairing", pairings, encoding.pairing);
  encoding.rope_scaling = read_rope_scaling(fields);
  const bool proportional = std::holds_alternative<ProportionalScaling>(encoding.rope_scaling);
  encoding.rotary_layout =
      fields.choice("rotary_layout", rotary_layouts, proportional ? RotaryLayout::spread : RotaryLayout::prefix);
  encoding.direction = fields.choice("direction", directions, encoding.direction);
  encoding.positions = read_position_grid(fields);
  return encoding;
}

void check(const Rope& encoding) {
  check_even_width("head_dim", encoding.head_dim);
  check_even_width("rotary_dim", encoding.rotary_dim);
  if (encoding.rotary_dim > encoding.head_dim) {
    refuse_field("rotary_dim",
                 fmt::format("expected at most head_dim = {}, got {}", encoding.head_dim, encoding.rotary_dim));
  }
  check_base("rope_theta", encoding.rope_theta);
  check_rope_scaling(encoding);
  check_position_grid(encoding.positions);
  if (encoding.positions.dtype != Dtype::int64 && length_limit(encoding.rope_scaling)) {
    refuse_field("position_dtype",
                 fmt::format("expected int64 for rope_type {}, which looks at the length of a call of whole positions",
                             name_of(encoding.rope_scaling)));
  }
}

void check_within(const Rope& encoding, const Attention&) {
  if (encoding.positions.dtype != Dtype::int64)
    refuse_field("position.position_dtype", "expected int64: attention takes whole positions");
}

void write(const Rope& encoding, nlohmann::ordered_json& object) {
  object["head_dim"] = encoding.head_dim;
  object["rotary_dim"] = encoding.rotary_dim;
  object["rope_theta"] = encoding.rope_theta;
  object["pairing"] = text_of("pairing", pairings, encoding.pairing);
  object["output_pairing"] = text_of("output_pairing", pairings, encoding.output_pairing);
  object["rotary_layout"] = text_of("rotary_layout", rotary_layouts, encoding.rotary_layout);
  object["direction"] = text_of("direction", directions, encoding.direction);
  write_rope_scaling(encoding.rope_scaling, object);
  write_position_grid(encoding.positions, object);
}

Signature signature(const Rope& encoding) {
  return {.operation = Operation::rotate, .head_dim = encoding.head_dim, .positions = encoding.positions};
}

constexpr std::string_view described[] = {"head_dim", "rope_theta", "pairing"};

constexpr FieldMeaning field_meanings[] = {
    {"head_dim", "channels of a head"},
    {"rotary_dim", "how many of them turn: n below, which is head_dim where the layout is spread"},
    {"partial_rotary_factor", "in place of rotary_dim: the share of head_dim that turns; read, not written"},
    {"rope_theta", "the base: what the frequencies are powers of, rope_theta^(-2i/n)"},
    {"pairing", "channels of pair i in the input: half: (i, i + n/2); interleaved: (2i, 2i + 1)"},
    {"output_pairing", "the same of the result"},
    {"rotary_layout",
     "which channels turn: prefix: the first; suffix: the last; spread: the first pairs of the whole head"},
    {"direction", "the sense of the rotation: counterclockwise or clockwise"},
};

std::vector<FieldMeaning> fields() {
  std::vector<FieldMeaning> list = listed<field_meanings>();
  list.insert(list.end(), rope_scaling_fields().begin(), rope_scaling_fields().end());
  list.insert(list.end(), position_grid_fields().begin(), position_grid_fields().end());
  return list;
}

}  // namespace
}  // namespace spec_rope

constinit const EncodingEntry<Rope> Rope::entry{.name = "rope",
                                                .example = R"({"encoding":"rope","head_dim":128})",
                                                .fields = spec_rope::fields,
                                                .read = spec_rope::read,
                                                .check = spec_rope::check,
                                                .write = spec_rope::write,
                                                .described = spec_rope::described,
                                                .signature = spec_rope::signature,
                                                .check_within = spec_rope::check_within};

}  // namespace sextant
