#include "lib/spec/sinusoidal_2d.hpp"

#include <algorithm>

#include "lib/spec/encoding_entry.hpp"

namespace sextant {
namespace spec_sinusoidal_2d {
namespace {

constexpr Names<Layout, 2> layouts{{{"interleaved", Layout::interleaved}, {"concatenated", Layout::concatenated}}};
constexpr Names<AxisOrder, 2> axis_orders{
    {{"height_first", AxisOrder::height_first}, {"width_first", AxisOrder::width_first}}};

}  // namespace
}  // namespace spec_sinusoidal_2d

std::int64_t pairs(const Sinusoidal2d& encoding) { return encoding.dim / 4; }

Sinusoidal half_of(const Sinusoidal2d& encoding) {
  Sinusoidal half;
  half.dim = encoding.dim / 2;
  half.base = encoding.base;
  half.layout = encoding.layout;
  return half;
}

Channels channels_of_pair(const Sinusoidal2d& encoding, GridAxis axis, std::int64_t pair) {
  const GridAxis earlier = encoding.axis_order == AxisOrder::height_first ? GridAxis::height : GridAxis::width;
  const std::int64_t start = axis == earlier ? 0 : encoding.dim / 2;
  const Channels within = channels_of_pair(half_of(encoding), pair);
  return {start + within.first, start + within.second};
}

std::int64_t position_count(const Sinusoidal2d& encoding) { return std::max(encoding.height, encoding.width); }

namespace spec_sinusoidal_2d {
namespace {

Sinusoidal2d read(Fields& fields) {
  Sinusoidal2d encoding;
  encoding.dim = fields.required_integer("dim");
  encoding.height = fields.required_integer("height");
  encoding.width = fields.required_integer("width");
  encoding.base = fields.number("base").value_or(encoding.base);
  encoding.layout = fields.choice("layout", layouts, encoding.layout);
  encoding.axis_order = fields.choice("axis_order", axis_orders, encoding.axis_order);
  return encoding;
}

void check(const Sinusoidal2d& encoding) {
  check_even_width("dim", encoding.dim);
  if (encoding.dim % 4 != 0) {
    refuse_field("dim", fmt::format("expected a multiple of 4, two axes of sines and cosines, got {}", encoding.dim));
  }
  check_count("height", encoding.height, position_limit);
  check_count("width", encoding.width, position_limit);
  check_base("base", encoding.base);
}

void check_claim(const Sinusoidal2d& encoding, const Spec& spec) {
  const std::int64_t shorter = std::min(encoding.height, encoding.width);
  if (spec.min_position >= shorter) {
    refuse_field("min_position", fmt::format("expected less than {}, where the grid's shorter axis ends, got {}",
                                             shorter, spec.min_position));
  }
}

void write(const Sinusoidal2d& encoding, nlohmann::ordered_json& object) {
  object["dim"] = encoding.dim;
  object["height"] = encoding.height;
  object["width"] = encoding.width;
  object["base"] = encoding.base;
  object["layout"] = text_of("layout", layouts, encoding.layout);
  object["axis_order"] = text_of("axis_order", axis_orders, encoding.axis_order);
}

Signature signature(const Sinusoidal2d& encoding) { return {.axes = 2, .dim = encoding.dim}; }

constexpr std::string_view described[] = {"dim", "height", "width", "base", "layout"};

constexpr FieldMeaning field_meanings[] = {
    {"dim", "channels, half of them for each axis"},
    {"height", "rows of the grid"},
    {"width", "columns of the grid"},
    {"base", "what the frequencies are powers of, in each half"},
    {"layout", "of sines and cosines within each half: interleaved or concatenated"},
    {"axis_order", "which axis has the first half: height_first or width_first"},
};

}  // namespace
}  // namespace spec_sinusoidal_2d

constinit const EncodingEntry<Sinusoidal2d> Sinusoidal2d::entry{
    .name = "sinusoidal_2d",
    .example = R"({"encoding":"sinusoidal_2d","dim":768,"height":14,"width":14})",
    .fields = listed<spec_sinusoidal_2d::field_meanings>,
    .read = spec_sinusoidal_2d::read,
    .check = spec_sinusoidal_2d::check,
    .write = spec_sinusoidal_2d::write,
    .described = spec_sinusoidal_2d::described,
    .signature = spec_sinusoidal_2d::signature,
    .position_bounds =
        [](const Sinusoidal2d& encoding) { return std::optional(PositionBounds{.end = position_count(encoding)}); },
    .check_claim = spec_sinusoidal_2d::check_claim};

}  // namespace sextant
