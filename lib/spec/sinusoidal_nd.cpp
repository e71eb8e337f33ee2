#include "lib/spec/sinusoidal_nd.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include "lib/spec/encoding_entry.hpp"

namespace sextant {
namespace spec_sinusoidal_nd {
namespace {

constexpr Names<Layout, 2> layouts{{{"interleaved", Layout::interleaved}, {"concatenated", Layout::concatenated}}};
constexpr Names<First, 2> firsts{{{"sin", First::sin}, {"cos", First::cos}}};
constexpr Names<Denominator, 2> denominators{
    {{"dim", Denominator::dim}, {"half_minus_one", Denominator::half_minus_one}}};
constexpr Names<ChannelOrder, 2> channel_orders{
    {{"blocked", ChannelOrder::blocked}, {"alternating", ChannelOrder::alternating}}};
constexpr Names<Coordinates, 2> coordinates{{{"index", Coordinates::index}, {"normalized", Coordinates::normalized}}};

constexpr std::int64_t axes_limit = 4;
// Angles of positions within 2^54 stay below 2^57 radians, which is what the encoder's last tier reduces.
constexpr double least_scale = 0.125;
constexpr double largest_scale = 0x1p20;

std::int64_t channels_of(const SinusoidalNd& encoding, std::int64_t axis) {
  return encoding.channels[static_cast<std::size_t>(axis)];
}

std::int64_t sum_of(const std::vector<std::int64_t>& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), std::int64_t{0});
}

double scale_of(const SinusoidalNd& encoding, std::int64_t axis) {
  return encoding.scales.empty() ? 1 : encoding.scales[static_cast<std::size_t>(axis)];
}

}  // namespace
}  // namespace spec_sinusoidal_nd

std::int64_t axes(const SinusoidalNd& encoding) { return std::ssize(encoding.extents); }

std::vector<std::int64_t> order_of_axes(const SinusoidalNd& encoding) {
  if (!encoding.axis_order.empty()) return encoding.axis_order;
  std::vector<std::int64_t> order(encoding.extents.size());
  std::iota(order.begin(), order.end(), std::int64_t{0});
  return order;
}

Sinusoidal code_of_axis(const SinusoidalNd& encoding, std::int64_t axis) {
  Sinusoidal code;
  code.dim = spec_sinusoidal_nd::channels_of(encoding, axis);
  code.base = encoding.base;
  code.layout = encoding.layout;
  code.first = encoding.first;
  code.downscale_freq_shift = encoding.denominator == Denominator::dim ? 0 : 1;
  code.position_offset = encoding.position_offset;
  return code;
}

CountUnit unit_of_axis(const SinusoidalNd& encoding, std::int64_t axis) {
  if (encoding.coordinates == Coordinates::index)
    return {.of = CountUnit::Of::radian, .whole = spec_sinusoidal_nd::scale_of(encoding, axis)};
  const std::int64_t last = encoding.extents[static_cast<std::size_t>(axis)] - 1 + encoding.position_offset;
  return {.of = CountUnit::Of::turn, .whole = static_cast<double>(last), .part = encoding.epsilon};
}

std::int64_t pairs(const SinusoidalNd& encoding, std::int64_t axis) {
  return spec_sinusoidal_nd::channels_of(encoding, axis) / 2;
}

Channels channels_of_pair(const SinusoidalNd& encoding, std::int64_t axis, std::int64_t pair) {
  const Channels within = channels_of_pair(code_of_axis(encoding, axis), pair);
  std::int64_t place = 0;
  std::int64_t start = 0;
  for (const std::int64_t other : order_of_axes(encoding)) {
    if (other == axis) break;
    ++place;
    start += spec_sinusoidal_nd::channels_of(encoding, other);
  }
  // Channel 2k + c of axis number j in the row lies at 2(k axes + j) + c.
  if (encoding.channel_order == ChannelOrder::alternating) start = 2 * (pair * (axes(encoding) - 1) + place);
  return {start + within.first, start + within.second};
}

std::int64_t filled_channels(const SinusoidalNd& encoding) {
  return std::min(encoding.dim, spec_sinusoidal_nd::sum_of(encoding.channels));
}

namespace spec_sinusoidal_nd {
namespace {

SinusoidalNd read(Fields& fields) {
  SinusoidalNd encoding;
  encoding.dim = fields.required_integer("dim");
  auto extents = fields.integers("extents");
  if (!extents) fields.refuse("extents", "required: the number of positions on each axis");
  encoding.extents = std::move(*extents);
  // As many for each axis, rounded up to an even number.
  const std::int64_t count = std::max<std::int64_t>(axes(encoding), 1);
  const std::int64_t share = (std::clamp(encoding.dim, std::int64_t{0}, width_limit) + 2 * count - 1) / (2 * count) * 2;
  encoding.channels = fields.integers("channels").value_or(std::vector(encoding.extents.size(), share));
  if (auto order = fields.integers("axis_order")) {
    if (order->empty()) fields.refuse("axis_order", "expected each axis once, got none");
    if (*order != order_of_axes(encoding)) encoding.axis_order = std::move(*order);
  }
  encoding.base = fields.number("base").value_or(encoding.base);
  encoding.layout = fields.choice("layout", layouts, encoding.layout);
  encoding.first = fields.choice("first", firsts, encoding.first);
  encoding.denominator = fields.choice("denominator", denominators, encoding.denominator);
  encoding.channel_order = fields.choice("channel_order", channel_orders, encoding.channel_order);
  encoding.position_offset = fields.integer("position_offset").value_or(encoding.position_offset);
  encoding.coordinates = fields.choice("coordinates", coordinates, encoding.coordinates);
  encoding.epsilon = fields.number("epsilon").value_or(encoding.epsilon);
  if (auto scales = fields.numbers_or_null("scales")) {
    if (scales->empty()) fields.refuse("scales", "expected a number for each axis, got an empty list");
    if (std::ranges::any_of(*scales, [](double scale) { return scale != 1; })) encoding.scales = std::move(*scales);
  }
  return encoding;
}

void check_axes(const SinusoidalNd& encoding) {
  if (encoding.extents.empty() || axes(encoding) > axes_limit) {
    refuse_field("extents", fmt::format("expected the number of positions on each of 1 to {} axes, got {} numbers",
                                        axes_limit, axes(encoding)));
  }
  for (std::size_t axis = 0; axis < encoding.extents.size(); ++axis)
    check_count(fmt::format("extents[{}]", axis), encoding.extents[axis], position_limit);
  std::vector<std::int64_t> sorted = order_of_axes(encoding);
  std::ranges::sort(sorted);
  SinusoidalNd in_order = encoding;
  in_order.axis_order.clear();
  if (sorted != order_of_axes(in_order)) {
    refuse_field("axis_order", fmt::format("expected each axis from 0 to {} once, got {}", axes(encoding) - 1,
                                           fmt::join(encoding.axis_order, ", ")));
  }
}

void check_channels(const SinusoidalNd& encoding) {
  if (encoding.channels.size() != encoding.extents.size()) {
    refuse_field("channels", fmt::format("expected a number for each of the {} axes, got {}", axes(encoding),
                                         encoding.channels.size()));
  }
  for (std::size_t axis = 0; axis < encoding.channels.size(); ++axis) {
    check_even_width(fmt::format("channels[{}]", axis), encoding.channels[axis]);
    if (encoding.denominator == Denominator::half_minus_one && encoding.channels[axis] < 4) {
      refuse_field("denominator",
                   fmt::format("half_minus_one divides by half of an axis' channels less 1, so expected at least 4, "
                               "got {} of axis {}",
                               encoding.channels[axis], axis));
    }
  }
  const std::int64_t before_last = sum_of(encoding.channels) - channels_of(encoding, order_of_axes(encoding).back());
  if (encoding.dim <= before_last) {
    refuse_field("dim", fmt::format("expected more than {}, the channels of all axes but the last in the row, got {}",
                                    before_last, encoding.dim));
  }
  if (encoding.channel_order == ChannelOrder::blocked) return;
  if (encoding.layout != Layout::interleaved)
    refuse_field("layout", "expected interleaved where axes alternate, whose pairs then lie side by side");
  if (std::ranges::adjacent_find(encoding.channels, std::not_equal_to{}) != encoding.channels.end()) {
    refuse_field("channels", fmt::format("expected equal numbers where axes alternate, got {}",
                                         fmt::join(encoding.channels, ", ")));
  }
}

void check_coordinates(const SinusoidalNd& encoding) {
  const std::int64_t offset = encoding.position_offset;
  if (offset < -position_limit || offset > position_limit)
    refuse_field("position_offset", "expected an integer from -2^53 to 2^53");
  if (!(encoding.epsilon >= 0 && encoding.epsilon <= 1))
    refuse_field("epsilon", fmt::format("expected a number from 0 to 1, got {}", encoding.epsilon));
  if (!encoding.scales.empty() && encoding.scales.size() != encoding.extents.size()) {
    refuse_field("scales", fmt::format("expected a number for each of the {} axes, got {}", axes(encoding),
                                       encoding.scales.size()));
  }
  for (std::size_t axis = 0; axis < encoding.scales.size(); ++axis) {
    const double scale = encoding.scales[axis];
    if (!(scale >= least_scale && scale <= largest_scale))
      refuse_field(fmt::format("scales[{}]", axis), fmt::format("expected a number from 1/8 to 2^20, got {}", scale));
  }
  if (encoding.coordinates == Coordinates::index) {
    if (encoding.epsilon != 0)
      refuse_field("epsilon", "expected 0: only normalized coordinates are divided by a last one and epsilon");
    return;
  }
  if (!encoding.scales.empty())
    refuse_field("scales", "expected none where coordinates are normalized, which their extent divides");
  for (std::size_t axis = 0; axis < encoding.extents.size(); ++axis) {
    const std::int64_t last = encoding.extents[axis] - 1 + offset;
    if (last < 1 || last > position_limit) {
      refuse_field(fmt::format("extents[{}]", axis),
                   fmt::format("expected a last coordinate extent - 1 + position_offset from 1 to 2^53, by which "
                               "normalized ones are divided, got {}",
                               last));
    }
  }
}

void check(const SinusoidalNd& encoding) {
  check_count("dim", encoding.dim, width_limit);
  check_axes(encoding);
  check_channels(encoding);
  check_base("base", encoding.base);
  check_coordinates(encoding);
}

void check_claim(const SinusoidalNd& encoding, const Spec& spec) {
  check_begins_within(spec, std::ranges::min(encoding.extents));
}

void write(const SinusoidalNd& encoding, nlohmann::ordered_json& object) {
  object["dim"] = encoding.dim;
  object["extents"] = encoding.extents;
  object["channels"] = encoding.channels;
  object["axis_order"] = order_of_axes(encoding);
  object["base"] = encoding.base;
  object["layout"] = text_of("layout", layouts, encoding.layout);
  object["first"] = text_of("first", firsts, encoding.first);
  object["denominator"] = text_of("denominator", denominators, encoding.denominator);
  object["channel_order"] = text_of("channel_order", channel_orders, encoding.channel_order);
  object["position_offset"] = encoding.position_offset;
  object["coordinates"] = text_of("coordinates", coordinates, encoding.coordinates);
  object["epsilon"] = encoding.epsilon;
  object["scales"] = encoding.scales.empty() ? nlohmann::json(nullptr) : nlohmann::json(encoding.scales);
}

Signature signature(const SinusoidalNd& encoding) {
  return {.axes = axes(encoding), .dim = encoding.dim, .axes_lead = true};
}

constexpr std::string_view described[] = {"dim", "extents", "base", "layout"};

constexpr FieldMeaning field_meanings[] = {
    {"dim", "channels of a row; fewer than the axes have: the last are cut off; more: the rest is 0"},
    {"extents", "positions on each axis, 1 to 4 of them"},
    {"channels", "of each axis, even; as many for each unless given, rounded up"},
    {"axis_order", "the axes in the order in which they come in the row"},
    {"base", "what the frequencies are powers of, on each axis"},
    {"layout", "of sines and cosines within each axis: interleaved or concatenated"},
    {"first", "which of the two comes first: sin or cos"},
    {"denominator", "of the exponent, c an axis' channels: dim: base^(-2k/c); half_minus_one: base^(-k/(c/2 - 1))"},
    {"channel_order", "blocked: axis by axis; alternating: a pair of each axis by turns"},
    {"position_offset", "added to positions"},
    {"coordinates", "index: positions; normalized: 2 pi times positions divided by the last one + epsilon"},
    {"epsilon", "normalized: added to the last position of an axis before it divides"},
    {"scales", "what index coordinates of each axis are divided by; null: 1"},
};

}  // namespace
}  // namespace spec_sinusoidal_nd

constinit const EncodingEntry<SinusoidalNd> SinusoidalNd::entry{
    .name = "sinusoidal_nd",
    .example = R"({"encoding":"sinusoidal_nd","dim":96,"extents":[8,14,14]})",
    .fields = listed<spec_sinusoidal_nd::field_meanings>,
    .read = spec_sinusoidal_nd::read,
    .check = spec_sinusoidal_nd::check,
    .write = spec_sinusoidal_nd::write,
    .described = spec_sinusoidal_nd::described,
    .signature = spec_sinusoidal_nd::signature,
    .position_bounds =
        [](const SinusoidalNd& encoding) {
          return std::optional(PositionBounds{.end = std::ranges::max(encoding.extents)});
        },
    .check_claim = spec_sinusoidal_nd::check_claim};

}  // namespace sextant
