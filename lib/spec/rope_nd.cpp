// Over 400 lines: the fields of one encoding that has many, each read, checked and written by a few lines.
#include "lib/spec/rope_nd.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "lib/spec/encoding_entry.hpp"

namespace sextant {
namespace spec_rope_nd {
namespace {

constexpr Names<SectionOrder, 2> section_orders{
    {{"blocked", SectionOrder::blocked}, {"interleaved", SectionOrder::interleaved}}};
constexpr Names<Coordinates, 3> coordinates{{{"index", Coordinates::index},
                                             {"normalized", Coordinates::normalized},
                                             {"normalized_starts", Coordinates::normalized_starts}}};
constexpr Names<LadderShape, 2> shapes{{{"falling", LadderShape::falling}, {"both_ends", LadderShape::both_ends}}};
enum class PairingScope { head, axis };
constexpr Names<PairingScope, 2> pairing_scopes{{{"head", PairingScope::head}, {"axis", PairingScope::axis}}};
constexpr Names<AxisFrequencies, 3> ways_to_share{
    {{"shared", AxisFrequencies::shared}, {"per_axis", AxisFrequencies::per_axis}, {"dealt", AxisFrequencies::dealt}}};

std::int64_t section_of(const RopeNd& encoding, std::int64_t axis) {
  return encoding.sections[static_cast<std::size_t>(axis)];
}

// That the axes share out, whether they turn or not.
std::int64_t pairs_of_axes(const RopeNd& encoding) { return encoding.rope.rotary_dim / 2; }

PairingScope pairing_scope(const RopeNd& encoding) {
  return encoding.rope.parts > 1 ? PairingScope::axis : PairingScope::head;
}

// The rotary encoding whose frequencies one axis has.
Rope rope_of(const RopeNd& encoding, std::int64_t axis) {
  if (encoding.frequencies != AxisFrequencies::per_axis) return encoding.rope;
  Rope ladder;
  ladder.head_dim = ladder.rotary_dim = 2 * section_of(encoding, axis);
  if (encoding.ladder == LadderShape::both_ends) {
    // Exponents divide by the pairs less 1: those of a spread head that is one pair narrower.
    ladder.head_dim -= 2;
    ladder.rotary_layout = RotaryLayout::spread;
  }
  ladder.rope_theta =
      encoding.rope_thetas.empty() ? encoding.rope.rope_theta : encoding.rope_thetas[static_cast<std::size_t>(axis)];
  ladder.rope_scaling = encoding.rope.rope_scaling;
  return ladder;
}

}  // namespace
}  // namespace spec_rope_nd

std::int64_t axes(const RopeNd& encoding) { return std::ssize(encoding.sections); }

std::vector<std::int64_t> order_of_axes(const RopeNd& encoding) {
  if (!encoding.axis_order.empty()) return encoding.axis_order;
  std::vector<std::int64_t> order(encoding.sections.size());
  std::iota(order.begin(), order.end(), std::int64_t{0});
  return order;
}

std::vector<std::int64_t> axis_of_pairs(const RopeNd& encoding) {
  const std::vector<std::int64_t> order = order_of_axes(encoding);
  std::vector<std::int64_t> axis(static_cast<std::size_t>(spec_rope_nd::pairs_of_axes(encoding)), order.front());
  std::size_t next = 0;
  for (std::size_t j = 0; j < order.size(); ++j) {
    const auto count = static_cast<std::size_t>(spec_rope_nd::section_of(encoding, order[j]));
    for (std::size_t k = 0; k < count; ++k) {
      if (encoding.section_order == SectionOrder::blocked) {
        axis.at(next++) = order[j];
      } else if (j > 0) {
        axis.at(j + k * order.size()) = order[j];
      }
    }
  }
  return axis;
}

int shift_bits(const RopeNd& encoding, std::int64_t axis) {
  if (encoding.coordinate_shifts.empty()) return 0;
  const double shift = encoding.coordinate_shifts[static_cast<std::size_t>(axis)];
  int bits = 0;
  while (std::ldexp(shift, bits) != std::trunc(std::ldexp(shift, bits))) ++bits;
  return bits;
}

std::int64_t counted(const RopeNd& encoding, std::int64_t axis, std::int64_t coordinate) {
  if (encoding.coordinates == Coordinates::index) return coordinate;
  const auto a = static_cast<std::size_t>(axis);
  const std::int64_t into_patch = encoding.coordinates == Coordinates::normalized ? 1 : 0;
  const std::int64_t middle = 2 * coordinate + into_patch - encoding.extents[a];
  if (encoding.coordinate_shifts.empty()) return middle;
  const int bits = shift_bits(encoding, axis);
  const auto shift = static_cast<std::int64_t>(std::ldexp(encoding.coordinate_shifts[a], bits));
  return middle * (std::int64_t{1} << bits) + shift * encoding.extents[a];
}

namespace spec_rope_nd {
namespace {

double scale_of(const RopeNd& encoding, std::int64_t axis) {
  return encoding.coordinate_scales.empty() ? 1 : encoding.coordinate_scales[static_cast<std::size_t>(axis)];
}

// A turn divided by so many counts. One that rises to its base is a falling one of the base, which is multiplied
// exactly: check_ladder sees to that.
Ladder normalized_ladder(const RopeNd& encoding, std::int64_t axis) {
  Rope rope = rope_of(encoding, axis);
  const double highest = encoding.ladder == LadderShape::both_ends ? rope.rope_theta : 1;
  return {std::move(rope), encoding.extents[static_cast<std::size_t>(axis)] << shift_bits(encoding, axis),
          scale_of(encoding, axis) * highest};
}

}  // namespace
}  // namespace spec_rope_nd

Ladders ladders_of(const RopeNd& encoding) {
  const bool normalized = encoding.coordinates != Coordinates::index;
  const std::vector<std::int64_t> order = order_of_axes(encoding);
  std::vector<std::int64_t> place_of_axis(order.size());
  for (std::size_t j = 0; j < order.size(); ++j)
    place_of_axis[static_cast<std::size_t>(order[j])] = static_cast<std::int64_t>(j);
  const bool alike = !normalized && encoding.frequencies != AxisFrequencies::per_axis;
  Ladders all;
  for (std::int64_t axis = 0; axis < (alike ? 1 : axes(encoding)); ++axis)
    all.ladders.push_back(normalized ? spec_rope_nd::normalized_ladder(encoding, axis)
                                     : Ladder{spec_rope_nd::rope_of(encoding, axis)});
  if (pairs(encoding.rope) == 0) return all;
  std::vector<std::int64_t> pairs_so_far(order.size(), 0);
  std::int64_t pair = 0;
  for (const std::int64_t axis : axis_of_pairs(encoding)) {
    const auto a = static_cast<std::size_t>(axis);
    const std::int64_t k = pairs_so_far[a]++;
    std::int64_t index = pair++;
    if (encoding.frequencies == AxisFrequencies::per_axis)
      index = encoding.ladder == LadderShape::both_ends ? spec_rope_nd::section_of(encoding, axis) - 1 - k : k;
    if (encoding.frequencies == AxisFrequencies::dealt) index = place_of_axis[a] + k * axes(encoding);
    all.places.push_back({alike ? 0 : axis, index});
  }
  return all;
}

namespace spec_rope_nd {
namespace {

[[noreturn]] void refuse_order(const RopeNd& encoding, const std::vector<std::int64_t>& order) {
  refuse_field("axis_order", fmt::format("expected each axis from 0 to {} once, got {}", axes(encoding) - 1,
                                         order.empty() ? "none" : fmt::format("{}", fmt::join(order, ", "))));
}

std::vector<double> numbers_of_axes(Fields& fields, const char* name) {
  auto numbers = fields.numbers_or_null(name);
  if (numbers && numbers->empty()) fields.refuse(name, "expected a number for each axis, got an empty list");
  return numbers.value_or(std::vector<double>());
}

RopeNd read(Fields& fields) {
  RopeNd encoding;
  const auto without_real_positions = [&] {
    for (const char* name : {"position_dtype", "position_step"})
      fields.refuse_of_parts(name, "no field of rope_nd, which takes whole positions");
  };
  without_real_positions();
  encoding.rope = Rope::entry.read(fields);
  without_real_positions();
  auto sections = fields.integers("sections");
  if (!sections) fields.refuse("sections", "required: the number of pairs of each axis");
  encoding.sections = std::move(*sections);
  encoding.section_order = fields.choice("section_order", section_orders, encoding.section_order);
  if (auto order = fields.integers("axis_order")) {
    if (order->empty()) refuse_order(encoding, *order);
    if (*order != order_of_axes(encoding)) encoding.axis_order = std::move(*order);
  }
  encoding.frequencies = fields.choice("frequencies", ways_to_share, encoding.frequencies);
  if (auto thetas = fields.numbers_or_null("rope_thetas")) {
    if (fields.has("rope_theta"))
      fields.refuse("rope_thetas", "expected none beside rope_theta, which is the base of all axes");
    if (thetas->empty()) fields.refuse("rope_thetas", "expected a number for each axis, got an empty list");
    encoding.rope_thetas = std::move(*thetas);
  }
  if (fields.choice("pairing_scope", pairing_scopes, PairingScope::head) == PairingScope::axis)
    encoding.rope.parts = axes(encoding);
  encoding.coordinates = fields.choice("coordinates", coordinates, encoding.coordinates);
  encoding.extents = fields.integers_or_null("extents").value_or(encoding.extents);
  encoding.coordinate_shifts = numbers_of_axes(fields, "coordinate_shifts");
  encoding.coordinate_scales = numbers_of_axes(fields, "coordinate_scales");
  encoding.ladder = fields.choice("ladder", shapes, encoding.ladder);
  return encoding;
}

void check_sections(const RopeNd& encoding) {
  if (encoding.sections.empty())
    refuse_field("sections", "expected the number of pairs of each axis, got an empty list");
  const std::int64_t all = pairs_of_axes(encoding);
  std::int64_t sum = 0;
  for (const std::int64_t section : encoding.sections) {
    if (section < 1 || section > all) {
      refuse_field("sections", fmt::format("expected numbers from 1 to rotary_dim/2 = {}, got {}", all, section));
    }
    sum += section;
  }
  if (sum != all) {
    refuse_field("sections",
                 fmt::format("expected the sum rotary_dim/2 = {}, got {}{}", all, fmt::join(encoding.sections, " + "),
                             sum == 2 * all ? "; sections count pairs, not channels" : ""));
  }
}

void check_order(const RopeNd& encoding) {
  std::vector<std::int64_t> sorted = order_of_axes(encoding);
  std::ranges::sort(sorted);
  for (std::int64_t axis = 0; axis < std::max(axes(encoding), std::ssize(sorted)); ++axis) {
    if (std::ssize(sorted) == axes(encoding) && sorted[static_cast<std::size_t>(axis)] == axis) continue;
    refuse_order(encoding, encoding.axis_order);
  }
  if (encoding.section_order != SectionOrder::interleaved) return;
  const std::vector<std::int64_t> order = order_of_axes(encoding);
  for (std::int64_t j = 1; j < axes(encoding); ++j) {
    const std::int64_t axis = order[static_cast<std::size_t>(j)];
    const std::int64_t places = (pairs_of_axes(encoding) - j + axes(encoding) - 1) / axes(encoding);
    if (section_of(encoding, axis) > places) {
      refuse_field("sections",
                   fmt::format("expected at most {} of the {} pairs for axis {}, which is all it gets where "
                               "sections are interleaved, got {}",
                               places, pairs_of_axes(encoding), axis, section_of(encoding, axis)));
    }
  }
}

void check_equal_sections(const RopeNd& encoding, std::string_view where) {
  if (std::ranges::adjacent_find(encoding.sections, std::not_equal_to{}) == encoding.sections.end()) return;
  refuse_field("sections", fmt::format("expected equal numbers {}, got {}", where, fmt::join(encoding.sections, ", ")));
}

void check_frequencies(const RopeNd& encoding) {
  if (!encoding.rope_thetas.empty()) {
    if (encoding.frequencies != AxisFrequencies::per_axis)
      refuse_field("rope_thetas", "expected none: only with frequencies per_axis does an axis have a base of its own");
    if (encoding.rope_thetas.size() != encoding.sections.size()) {
      refuse_field("rope_thetas", fmt::format("expected a number for each of the {} axes, got {}", axes(encoding),
                                              encoding.rope_thetas.size()));
    }
    for (std::size_t axis = 0; axis < encoding.rope_thetas.size(); ++axis)
      check_base(fmt::format("rope_thetas[{}]", axis), encoding.rope_thetas[axis]);
  }
  if (encoding.frequencies == AxisFrequencies::shared) return;
  if (encoding.rope.rotary_layout == RotaryLayout::spread) {
    refuse_field("frequencies", "expected shared under rotary_layout spread, whose frequencies are those of the head");
  }
  if (encoding.frequencies == AxisFrequencies::dealt) {
    if (encoding.section_order == SectionOrder::interleaved)
      refuse_field("frequencies", "expected shared where sections are interleaved, which deals the frequencies itself");
    return check_equal_sections(encoding, "where frequencies are dealt by turns");
  }
  const RopeScaling& rule = encoding.rope.rope_scaling;
  if (std::holds_alternative<LongropeScaling>(rule))
    check_equal_sections(encoding,
                         "where frequencies are per_axis: longrope has one list of factors, for each axis' own pairs");
  const bool needs_two = std::holds_alternative<NtkScaling>(rule) || std::holds_alternative<DynamicScaling>(rule);
  for (std::int64_t axis = 0; axis < axes(encoding); ++axis) {
    if (needs_two && section_of(encoding, axis) == 1) {
      refuse_field("sections", fmt::format("expected more than one pair for axis {}: the exponent n/(n-2) of this "
                                           "rope_type divides by n - 2",
                                           axis));
    }
    check_rope_scaling(rope_of(encoding, axis));
  }
}

void check_pairing_scope(const RopeNd& encoding) {
  const Rope& rope = encoding.rope;
  if (rope.parts == 1) return;
  if (rope.parts != axes(encoding))
    refuse_field("pairing_scope", fmt::format("expected a part for each of the {} axes", axes(encoding)));
  if (encoding.section_order != SectionOrder::blocked)
    refuse_field("pairing_scope", "expected head where sections are interleaved: an axis has no part of its own");
  if (rope.pairing != Pairing::half || rope.output_pairing != Pairing::half)
    refuse_field("pairing_scope", "expected head where channels are interleaved, which lie in their axis' part anyway");
  if (rope.rotary_dim != rope.head_dim)
    refuse_field("pairing_scope", "expected head where a part of the channels turns");
  check_equal_sections(encoding, "where channels are paired within each axis");
}

constexpr int finest_shift = 30;
constexpr double largest_scale = 64;

void check_moves(const RopeNd& encoding) {
  for (const auto& [name, numbers] : {std::pair("coordinate_shifts", &encoding.coordinate_shifts),
                                      std::pair("coordinate_scales", &encoding.coordinate_scales)}) {
    if (numbers->empty()) continue;
    if (encoding.coordinates == Coordinates::index)
      refuse_field(name, "expected none: only normalized coordinates are moved and multiplied");
    if (std::ssize(*numbers) != axes(encoding))
      refuse_field(name,
                   fmt::format("expected a number for each of the {} axes, got {}", axes(encoding), numbers->size()));
  }
  for (std::size_t axis = 0; axis < encoding.coordinate_shifts.size(); ++axis) {
    const double shift = encoding.coordinate_shifts[axis];
    const double counts = std::ldexp(shift, finest_shift);
    if (!(shift >= -1 && shift <= 1 && counts == std::trunc(counts)))
      refuse_field(fmt::format("coordinate_shifts[{}]", axis),
                   fmt::format("expected a multiple of 2^-{0} from -1 to 1, got {1}; round({1} * 2^{0}) / 2^{0} is one",
                               finest_shift, shift));
  }
  for (std::size_t axis = 0; axis < encoding.coordinate_scales.size(); ++axis) {
    const double scale = encoding.coordinate_scales[axis];
    if (!(scale >= 1 / largest_scale && scale <= largest_scale))
      refuse_field(fmt::format("coordinate_scales[{}]", axis),
                   fmt::format("expected a number from 1/{0} to {0}, got {1}", largest_scale, scale));
  }
}

// A ladder that rises to its base.
void check_ladder(const RopeNd& encoding) {
  if (encoding.ladder == LadderShape::falling) return;
  if (encoding.frequencies != AxisFrequencies::per_axis || encoding.coordinates == Coordinates::index)
    refuse_field("ladder", "expected falling, but of frequencies per_axis and normalized coordinates");
  for (std::int64_t axis = 0; axis < axes(encoding); ++axis) {
    if (section_of(encoding, axis) < 2)
      refuse_field("sections", fmt::format("expected two pairs or more for axis {}, a ladder with both ends, got {}",
                                           axis, section_of(encoding, axis)));
    const double base = rope_of(encoding, axis).rope_theta;
    const double scale = scale_of(encoding, axis);
    if (std::fma(scale, base, -(scale * base)) != 0)
      refuse_field(fmt::format("coordinate_scales[{}]", axis),
                   fmt::format("expected a number whose product with the base {} is a double under ladder both_ends, "
                               "got {}",
                               base, scale));
  }
}

void check_coordinates(const RopeNd& encoding) {
  check_moves(encoding);
  if (encoding.coordinates == Coordinates::index) {
    if (!encoding.extents.empty())
      refuse_field("extents", "expected none: only normalized coordinates depend on how many patches there are");
    return;
  }
  if (encoding.extents.empty()) refuse_field("extents", "required of normalized coordinates: the patches of each axis");
  if (encoding.extents.size() != encoding.sections.size())
    refuse_field("extents", fmt::format("expected a number of patches for each of the {} axes, got {}", axes(encoding),
                                        encoding.extents.size()));
  for (std::size_t axis = 0; axis < encoding.extents.size(); ++axis)
    check_count(fmt::format("extents[{}]", axis), encoding.extents[axis], width_limit);
  if (!std::holds_alternative<DefaultScaling>(encoding.rope.rope_scaling))
    refuse_field("rope_scaling", "expected none where coordinates are normalized, which no length stretches");
}

void check(const RopeNd& encoding) {
  // A rule is checked against the frequencies that it scales.
  Rope head = encoding.rope;
  if (encoding.frequencies == AxisFrequencies::per_axis) head.rope_scaling = DefaultScaling{};
  Rope::entry.check(head);
  if (head.positions.dtype != Dtype::int64)
    refuse_field("position_dtype", "expected int64: rope_nd takes whole positions");
  if (length_scope(encoding.rope.rope_scaling) != LengthScope::call)
    refuse_field("rope_scaling.length_scope", "expected call: a position of several coordinates has no row of its own");
  check_sections(encoding);
  check_order(encoding);
  check_frequencies(encoding);
  check_pairing_scope(encoding);
  check_coordinates(encoding);
  check_ladder(encoding);
}

void write(const RopeNd& encoding, nlohmann::ordered_json& object) {
  Rope::entry.write(encoding.rope, object);
  object["sections"] = encoding.sections;
  object["section_order"] = text_of("section_order", section_orders, encoding.section_order);
  object["axis_order"] = order_of_axes(encoding);
  object["frequencies"] = text_of("frequencies", ways_to_share, encoding.frequencies);
  object["pairing_scope"] = text_of("pairing_scope", pairing_scopes, pairing_scope(encoding));
  object["coordinates"] = text_of("coordinates", coordinates, encoding.coordinates);
  object["extents"] = encoding.extents.empty() ? nlohmann::json(nullptr) : nlohmann::json(encoding.extents);
  if (!encoding.coordinate_shifts.empty()) object["coordinate_shifts"] = encoding.coordinate_shifts;
  if (!encoding.coordinate_scales.empty()) object["coordinate_scales"] = encoding.coordinate_scales;
  if (encoding.ladder != LadderShape::falling) object["ladder"] = text_of("ladder", shapes, encoding.ladder);
  object["rope_thetas"] = encoding.rope_thetas.empty() ? nlohmann::json(nullptr) : nlohmann::json(encoding.rope_thetas);
  if (!encoding.rope_thetas.empty()) object.erase("rope_theta");
}

Signature signature(const RopeNd& encoding) {
  return {
      .operation = Operation::rotate, .axes = axes(encoding), .head_dim = encoding.rope.head_dim, .axes_lead = true};
}

std::optional<PositionBounds> position_bounds(const RopeNd& encoding) {
  if (encoding.extents.empty()) return std::nullopt;
  return PositionBounds{.end = std::ranges::max(encoding.extents)};
}

void check_claim(const RopeNd& encoding, const Spec& spec) {
  if (!encoding.extents.empty()) check_begins_within(spec, std::ranges::min(encoding.extents));
}

constexpr std::string_view described[] = {"head_dim", "rope_theta", "pairing", "sections"};

constexpr FieldMeaning field_meanings[] = {
    {"sections", "pairs of each axis, together rotary_dim/2"},
    {"section_order", "blocked: axis by axis; interleaved: axes by turns while they have pairs left"},
    {"axis_order", "the axes in the order in which they come in the head"},
    {"frequencies",
     "of an axis' k-th pair: shared: its place's in the head; per_axis: w_k of a ladder of its own; dealt: dealt by "
     "turns"},
    {"pairing_scope", "half pairing: over the head; or within each axis' own part of it"},
    {"coordinates",
     "index: as they are; normalized: 2 pi times the middle of a patch in [-1, 1]; normalized_starts: times where it "
     "begins"},
    {"extents", "patches along each axis, of normalized coordinates"},
    {"coordinate_shifts", "what the normalized coordinates of each axis are moved by, before they are multiplied"},
    {"coordinate_scales", "what they are multiplied by then"},
    {"ladder", "of frequencies per_axis: falling, from 1 down; or both_ends: from 1 up to the base, both included"},
    {"rope_thetas", "in place of rope_theta: the base of each axis, of frequencies per_axis"},
};

// Those of rope and its own.
std::vector<FieldMeaning> fields() {
  std::vector<FieldMeaning> list = Rope::entry.fields();
  std::erase_if(list, [](const FieldMeaning& field) { return field.name.starts_with("position_"); });
  list.insert(list.end(), std::begin(field_meanings), std::end(field_meanings));
  return list;
}

}  // namespace
}  // namespace spec_rope_nd

constinit const EncodingEntry<RopeNd> RopeNd::entry{
    .name = "rope_nd",
    .example = R"({"encoding":"rope_nd","head_dim":128,"sections":[16,24,24]})",
    .fields = spec_rope_nd::fields,
    .read = spec_rope_nd::read,
    .check = spec_rope_nd::check,
    .write = spec_rope_nd::write,
    .described = spec_rope_nd::described,
    .signature = spec_rope_nd::signature,
    .position_bounds = spec_rope_nd::position_bounds,
    .check_claim = spec_rope_nd::check_claim};

}  // namespace sextant
