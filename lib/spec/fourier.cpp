#include "lib/spec/fourier.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "lib/spec/encoding_entry.hpp"

namespace sextant {
namespace spec_fourier {
namespace {

constexpr Names<FrequencyLadder, 3> ladders{{{"powers_of_two", FrequencyLadder::powers_of_two},
                                             {"linear", FrequencyLadder::linear},
                                             {"weight", FrequencyLadder::weight}}};
constexpr Names<AngleUnit, 3> angle_units{
    {{"radian", AngleUnit::radian}, {"half_turn", AngleUnit::half_turn}, {"turn", AngleUnit::turn}}};
constexpr Names<FourierOrder, 8> orders{{{"frequency_function_axis", FourierOrder::frequency_function_axis},
                                         {"frequency_axis_function", FourierOrder::frequency_axis_function},
                                         {"function_axis_frequency", FourierOrder::function_axis_frequency},
                                         {"function_frequency_axis", FourierOrder::function_frequency_axis},
                                         {"axis_frequency_function", FourierOrder::axis_frequency_function},
                                         {"axis_function_frequency", FourierOrder::axis_function_frequency},
                                         {"function_frequency", FourierOrder::function_frequency},
                                         {"frequency_function", FourierOrder::frequency_function}}};
constexpr Names<First, 2> firsts{{{"sin", First::sin}, {"cos", First::cos}}};
constexpr Names<Identity, 3> identities{
    {{"none", Identity::none}, {"first", Identity::first}, {"last", Identity::last}}};
constexpr Names<FourierCoordinates, 3> coordinates{{{"index", FourierCoordinates::index},
                                                    {"centres", FourierCoordinates::centres},
                                                    {"ends", FourierCoordinates::ends}}};

constexpr std::int64_t axes_limit = 4;
// Angles of coordinates up to 2^54 stay below 2^90, which the encoder's last tier reduces.
constexpr double largest_exponent = 32;
constexpr double largest_frequency = 0x1p32;
// Twice a coordinate of an extent in steps is a count of rotations' kernels, within 2^54.
constexpr std::int64_t extent_limit = std::int64_t{1} << 20;
constexpr std::int64_t most_counts = std::int64_t{1} << 52;

bool is_of_weight(FourierOrder order) {
  return order == FourierOrder::function_frequency || order == FourierOrder::frequency_function;
}

// Steps in a position: a power of two.
std::int64_t steps_of_one(const PositionGrid& grid) { return std::llround(1 / grid.step); }

std::int64_t extent_of(const Fourier& encoding, std::int64_t axis) {
  return encoding.extents[static_cast<std::size_t>(axis)];
}

}  // namespace
}  // namespace spec_fourier

bool is_given(const Fourier& encoding) { return encoding.ladder == FrequencyLadder::weight; }

std::int64_t angle_lists(const Fourier& encoding) { return is_given(encoding) ? 1 : encoding.axes; }

std::int64_t width(const Fourier& encoding) {
  // Also asked of what no check has seen yet.
  const std::int64_t bands = std::clamp<std::int64_t>(encoding.bands, 0, width_limit);
  const std::int64_t axes = std::clamp<std::int64_t>(encoding.axes, 0, spec_fourier::axes_limit);
  return 2 * bands * (is_given(encoding) ? 1 : axes) + (encoding.identity == Identity::none ? 0 : axes);
}

Channels channels_of(const Fourier& encoding, std::int64_t axis, std::int64_t band) {
  const std::int64_t lists = angle_lists(encoding);
  const std::int64_t bands = encoding.bands;
  const std::int64_t start = encoding.identity == Identity::first ? encoding.axes : 0;
  const auto channel = [&](std::int64_t function) {
    switch (encoding.channel_order) {
      case FourierOrder::frequency_function_axis: return start + (2 * band + function) * lists + axis;
      case FourierOrder::frequency_axis_function: return start + 2 * (band * lists + axis) + function;
      case FourierOrder::function_axis_frequency: return start + (function * lists + axis) * bands + band;
      case FourierOrder::function_frequency_axis: return start + (function * bands + band) * lists + axis;
      case FourierOrder::axis_frequency_function: return start + 2 * (axis * bands + band) + function;
      case FourierOrder::axis_function_frequency: return start + (2 * axis + function) * bands + band;
      case FourierOrder::function_frequency: return start + function * bands + band;
      case FourierOrder::frequency_function: return start + 2 * band + function;
    }
    throw SpecError("spec: channel_order holds no order");
  };
  return encoding.first == First::sin ? Channels{channel(0), channel(1)} : Channels{channel(1), channel(0)};
}

std::optional<std::int64_t> identity_channel(const Fourier& encoding, std::int64_t axis) {
  if (encoding.identity == Identity::none) return std::nullopt;
  return encoding.identity == Identity::first ? axis : width(encoding) - encoding.axes + axis;
}

std::int64_t counted(const Fourier& encoding, std::int64_t axis, std::int64_t count) {
  if (encoding.coordinates == FourierCoordinates::index) return count;
  return 2 * count + (1 - spec_fourier::extent_of(encoding, axis)) * spec_fourier::steps_of_one(encoding.positions);
}

std::int64_t divisor_of(const Fourier& encoding, std::int64_t axis) {
  switch (encoding.coordinates) {
    case FourierCoordinates::index: return 1;
    case FourierCoordinates::centres: return spec_fourier::extent_of(encoding, axis);
    case FourierCoordinates::ends: return spec_fourier::extent_of(encoding, axis) - 1;
  }
  throw SpecError("spec: coordinates holds no kind of them");
}

namespace spec_fourier {
namespace {

Fourier read(Fields& fields) {
  Fourier encoding;
  encoding.bands = fields.required_integer("bands");
  encoding.coordinates = fields.choice("coordinates", coordinates, encoding.coordinates);
  if (auto extents = fields.integers_or_null("extents")) {
    if (extents->empty()) fields.refuse("extents", "expected a number for each axis, got an empty list");
    encoding.extents = std::move(*extents);
    encoding.axes = std::ssize(encoding.extents);
  }
  encoding.axes = fields.integer("axes").value_or(encoding.axes);
  encoding.ladder = fields.choice("ladder", ladders, encoding.ladder);
  const bool given = is_given(encoding);
  if (given && (fields.has("lowest") || fields.has("highest")))
    fields.refuse(fields.has("lowest") ? "lowest" : "highest", "expected none: the frequencies are the weight's");
  if (encoding.ladder == FrequencyLadder::linear) encoding.lowest = 1;
  encoding.lowest = fields.number("lowest").value_or(encoding.lowest);
  if (!given) {
    // A step of one from band to band.
    const std::int64_t steps = std::clamp<std::int64_t>(encoding.bands, 1, width_limit) - 1;
    encoding.highest = fields.number("highest").value_or(encoding.lowest + static_cast<double>(steps));
  }
  encoding.angle_unit = fields.choice("angle_unit", angle_units, given ? AngleUnit::turn : encoding.angle_unit);
  encoding.channel_order =
      fields.choice("channel_order", orders, given ? FourierOrder::function_frequency : encoding.channel_order);
  encoding.first = fields.choice("first", firsts, encoding.first);
  encoding.identity = fields.choice("identity", identities, encoding.identity);
  encoding.positions = read_position_grid(fields);
  return encoding;
}

void check_ladder(const Fourier& encoding) {
  if (is_given(encoding) != is_of_weight(encoding.channel_order)) {
    refuse_field("channel_order", is_given(encoding)
                                      ? "expected function_frequency or frequency_function: frequencies of a weight "
                                        "belong to no axis"
                                      : "expected an order with the axis in it");
  }
  if (is_given(encoding)) {
    if (encoding.lowest != 0 || encoding.highest != 0)
      refuse_field("lowest", "expected none: the frequencies are the weight's");
    return;
  }
  const bool is_linear = encoding.ladder == FrequencyLadder::linear;
  const double least = is_linear ? 1 / largest_frequency : -largest_exponent;
  const double most = is_linear ? largest_frequency : largest_exponent;
  const std::string_view range = is_linear ? "from 2^-32 to 2^32" : "from -32 to 32";
  if (!(encoding.lowest >= least && encoding.lowest <= most))
    refuse_field("lowest", fmt::format("expected a number {}, got {}", range, encoding.lowest));
  if (!(encoding.highest >= encoding.lowest && encoding.highest <= most)) {
    refuse_field("highest", fmt::format("expected a number {} and at least lowest = {}, got {}; where it is not given "
                                        "it is lowest + bands - 1",
                                        range, encoding.lowest, encoding.highest));
  }
  if (encoding.bands == 1 && encoding.highest != encoding.lowest)
    refuse_field("highest", fmt::format("expected lowest = {}: one band has one frequency, got {}", encoding.lowest,
                                        encoding.highest));
}

void check_coordinates(const Fourier& encoding) {
  if (encoding.coordinates == FourierCoordinates::index) {
    if (!encoding.extents.empty()) refuse_field("extents", "expected null: only centres and ends are of a grid");
    return;
  }
  if (encoding.extents.empty()) refuse_field("extents", "required of centres and ends: the cells of each axis");
  if (std::ssize(encoding.extents) != encoding.axes) {
    refuse_field("extents", fmt::format("expected a number for each of the {} axes, got {}", encoding.axes,
                                        encoding.extents.size()));
  }
  const std::int64_t least = encoding.coordinates == FourierCoordinates::ends ? 2 : 1;
  for (std::int64_t axis = 0; axis < encoding.axes; ++axis) {
    const std::int64_t extent = extent_of(encoding, axis);
    if (extent < least || extent > extent_limit || extent > most_counts / steps_of_one(encoding.positions)) {
      refuse_field(fmt::format("extents[{}]", axis),
                   fmt::format("expected an integer from {} to 2^20, and at most 2^52 steps, got {}", least, extent));
    }
  }
}

void check(const Fourier& encoding) {
  check_count("axes", encoding.axes, axes_limit);
  check_count("bands", encoding.bands, width_limit / 16);
  check_position_grid(encoding.positions);
  check_ladder(encoding);
  check_coordinates(encoding);
}

// Counts of the shortest axis.
std::int64_t shortest(const Fourier& encoding) {
  return std::ranges::min(encoding.extents) * steps_of_one(encoding.positions);
}

void check_claim(const Fourier& encoding, const Spec& spec) {
  if (encoding.coordinates != FourierCoordinates::index) check_begins_within(spec, shortest(encoding));
}

std::optional<PositionBounds> position_bounds(const Fourier& encoding) {
  if (encoding.coordinates == FourierCoordinates::index) return std::nullopt;
  return PositionBounds{.end = std::ranges::max(encoding.extents) * steps_of_one(encoding.positions)};
}

void write(const Fourier& encoding, nlohmann::ordered_json& object) {
  object["axes"] = encoding.axes;
  object["bands"] = encoding.bands;
  object["ladder"] = text_of("ladder", ladders, encoding.ladder);
  if (!is_given(encoding)) {
    object["lowest"] = encoding.lowest;
    object["highest"] = encoding.highest;
  }
  object["angle_unit"] = text_of("angle_unit", angle_units, encoding.angle_unit);
  object["channel_order"] = text_of("channel_order", orders, encoding.channel_order);
  object["first"] = text_of("first", firsts, encoding.first);
  object["identity"] = text_of("identity", identities, encoding.identity);
  object["coordinates"] = text_of("coordinates", coordinates, encoding.coordinates);
  object["extents"] = encoding.extents.empty() ? nlohmann::json(nullptr) : nlohmann::json(encoding.extents);
  write_position_grid(encoding.positions, object);
}

Signature signature(const Fourier& encoding) {
  Signature signature{
      .axes = encoding.axes, .dim = width(encoding), .axes_lead = true, .positions = encoding.positions};
  if (is_given(encoding)) signature.weight = WeightShape{encoding.axes, encoding.bands};
  return signature;
}

void check_within(const Fourier& encoding, const Attention&) {
  if (encoding.positions.dtype != Dtype::int64)
    refuse_field("position.position_dtype", "expected int64: attention takes whole positions");
}

constexpr std::string_view described[] = {"axes", "bands", "ladder", "angle_unit"};

constexpr FieldMeaning field_meanings[] = {
    {"axes", "coordinates of a position, 1 to 4; as many as extents has, else 1"},
    {"bands", "frequencies, each of which has a sine and a cosine"},
    {"ladder", "powers_of_two: 2^(lowest ... highest); linear: lowest ... highest; weight: an input [axes, bands]"},
    {"lowest", "the first exponent of powers_of_two (0), or frequency of linear (1)"},
    {"highest", "the last one, in equal steps; lowest + bands - 1 unless given"},
    {"angle_unit", "of frequency times coordinate: radian, half_turn (pi of them) or turn (2 pi)"},
    {"channel_order", "of sines and cosines, slowest first: frequency_function_axis, function_axis_frequency, ..."},
    {"first", "which of the two functions comes first: sin or cos"},
    {"identity", "none; first or last: the coordinates themselves before or behind them"},
    {"coordinates", "index: positions; centres: (2p + 1)/e - 1; ends: 2p/(e - 1) - 1, of e cells on an axis"},
    {"extents", "the cells of each axis, of centres and ends; null"},
};

std::vector<FieldMeaning> fields() {
  std::vector<FieldMeaning> list = listed<field_meanings>();
  list.insert(list.end(), position_grid_fields().begin(), position_grid_fields().end());
  return list;
}

}  // namespace
}  // namespace spec_fourier

constinit const EncodingEntry<Fourier> Fourier::entry{.name = "fourier",
                                                      .example = R"({"encoding":"fourier","axes":3,"bands":10})",
                                                      .fields = spec_fourier::fields,
                                                      .read = spec_fourier::read,
                                                      .check = spec_fourier::check,
                                                      .write = spec_fourier::write,
                                                      .described = spec_fourier::described,
                                                      .signature = spec_fourier::signature,
                                                      .position_bounds = spec_fourier::position_bounds,
                                                      .check_claim = spec_fourier::check_claim,
                                                      .check_within = spec_fourier::check_within};

}  // namespace sextant
