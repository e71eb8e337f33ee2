// Over 400 lines: a sentence for each field of each encoding, which share their names and the list they stand in.
#include "properties/identify/differences.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <string>
#include <string_view>
#include <utility>

#include "lib/numeric/dtype.hpp"
#include "lib/spec/changed_fields.hpp"
#include "lib/spec/of.hpp"
#include "properties/identify/exponent_words.hpp"
#include "reference/rope_scaling.hpp"

namespace sextant::identify {
namespace {

std::string_view name_of(Pairing pairing) { return pairing == Pairing::half ? "half" : "interleaved"; }
std::string_view name_of(Direction direction) {
  return direction == Direction::clockwise ? "clockwise" : "counterclockwise";
}
std::string_view name_of(Layout layout) { return layout == Layout::interleaved ? "interleaved" : "concatenated"; }
std::string_view name_of(First first) { return first == First::sin ? "sin" : "cos"; }
std::string_view name_of(AlibiForm form) { return form == AlibiForm::distance ? "distance" : "key_index"; }
std::string_view name_of(AlibiSlopes slopes) { return slopes == AlibiSlopes::released ? "released" : "geometric"; }
std::string_view name_of(Mask mask) { return mask == Mask::causal ? "causal" : "symmetric"; }
std::string_view name_of(LaterKeys keys) { return keys == LaterKeys::at_zero ? "at_zero" : "mirrored"; }
std::string_view name_of(BucketRule rule) {
  switch (rule) {
    case BucketRule::t5: return "t5";
    case BucketRule::log: return "log";
    case BucketRule::clipped: return "clipped";
  }
  return "";
}
std::string_view name_of(SectionOrder order) { return order == SectionOrder::blocked ? "blocked" : "interleaved"; }
std::string_view name_of(AxisFrequencies frequencies) {
  switch (frequencies) {
    case AxisFrequencies::shared: return "shared";
    case AxisFrequencies::per_axis: return "per_axis";
    case AxisFrequencies::dealt: return "dealt";
  }
  return "";
}
std::string_view name_of(Role role) { return role == Role::query ? "query" : "key"; }
std::string_view name_of(AxisOrder order) { return order == AxisOrder::height_first ? "height_first" : "width_first"; }
std::string_view name_of(Denominator denominator) { return denominator == Denominator::dim ? "dim" : "half_minus_one"; }
std::string_view name_of(ChannelOrder order) { return order == ChannelOrder::blocked ? "blocked" : "alternating"; }
std::string_view name_of(Coordinates coordinates) {
  switch (coordinates) {
    case Coordinates::index: return "index";
    case Coordinates::normalized: return "normalized";
    case Coordinates::normalized_starts: return "normalized_starts";
  }
  return "";
}
std::string_view name_of(RotaryLayout layout) {
  switch (layout) {
    case RotaryLayout::prefix: return "prefix";
    case RotaryLayout::spread: return "spread";
    case RotaryLayout::suffix: return "suffix";
  }
  return "";
}

std::string_view name_of(AngleUnit unit) {
  switch (unit) {
    case AngleUnit::radian: return "radian";
    case AngleUnit::half_turn: return "half_turn";
    case AngleUnit::turn: return "turn";
  }
  return "";
}

std::string_view name_of(FourierOrder order) {
  switch (order) {
    case FourierOrder::frequency_function_axis: return "frequency_function_axis";
    case FourierOrder::frequency_axis_function: return "frequency_axis_function";
    case FourierOrder::function_axis_frequency: return "function_axis_frequency";
    case FourierOrder::function_frequency_axis: return "function_frequency_axis";
    case FourierOrder::axis_frequency_function: return "axis_frequency_function";
    case FourierOrder::axis_function_frequency: return "axis_function_frequency";
    case FourierOrder::function_frequency: return "function_frequency";
    case FourierOrder::frequency_function: return "frequency_function";
  }
  return "";
}
std::string_view name_of(Identity identity) {
  switch (identity) {
    case Identity::none: return "none";
    case Identity::first: return "first";
    case Identity::last: return "last";
  }
  return "";
}
std::string_view name_of(FourierCoordinates coordinates) {
  switch (coordinates) {
    case FourierCoordinates::index: return "index";
    case FourierCoordinates::centres: return "centres";
    case FourierCoordinates::ends: return "ends";
  }
  return "";
}
std::string_view name_of(FrequencyLadder ladder) {
  switch (ladder) {
    case FrequencyLadder::powers_of_two: return "powers_of_two";
    case FrequencyLadder::linear: return "linear";
    case FrequencyLadder::weight: return "weight";
  }
  return "";
}
std::string_view name_of(LadderShape ladder) { return ladder == LadderShape::falling ? "falling" : "both_ends"; }

class List {
 public:
  void add(std::string words, std::string row = {}, DiagnosedStage stage = DiagnosedStage::other) {
    made_.push_back({std::move(words), std::move(row), stage});
  }

  // "claims pairing half, computes interleaved".
  template <class Field>
  void named(std::string_view field, Field claimed, Field found, std::string row = {},
             DiagnosedStage stage = DiagnosedStage::other) {
    if (claimed != found)
      add(fmt::format("claims {} {}, computes {}", field, name_of(claimed), name_of(found)), std::move(row), stage);
  }

  // "base 10000 measured, 500000 claimed".
  template <class Number>
  void measured(std::string_view field, Number claimed, Number found, std::string row = {},
                DiagnosedStage stage = DiagnosedStage::other) {
    if (claimed != found)
      add(fmt::format("{} {:.10g} measured, {:.10g} claimed", field, static_cast<double>(found),
                      static_cast<double>(claimed)),
          std::move(row), stage);
  }

  std::vector<DiagnosedDifference> made() { return std::move(made_); }

 private:
  std::vector<DiagnosedDifference> made_;
};

// The rule and its fields, as `describe` has them, of a rope.
std::string rule_text(const Spec& spec) {
  const std::string text = describe(spec);
  const auto start = text.find("rope_scaling ");
  if (start == std::string::npos) return "no rope_scaling";
  const auto parenthesis = text.find('(', start);
  const auto comma = text.find(',', start);
  if (parenthesis == std::string::npos || comma < parenthesis) return text.substr(start, comma - start);
  return text.substr(start, text.find(')', start) + 1 - start);
}

double magnitude(const Rope& rope, std::int64_t length) {
  if (pairs(rope) == 0) return 1;
  return reference::RopeFrequencies(rope).attention_factor(length, reference::first_precision).upper();
}

// Attention factors are compared by what they come to, whatever fields say them.
// `where` are the calls of which it is so, where it is not so of all.
void compare_magnitudes(List& list, double claimed, double found, const std::string& where) {
  const auto is_near = [](double a, double b) { return std::fabs(a - b) < 0x1p-7 * b; };
  if (is_near(claimed, found)) return;
  if (is_near(found, claimed * claimed)) {
    list.add("the attention factor is applied twice" + where, "F9", DiagnosedStage::table);
  } else if (is_near(found, 1)) {
    list.add("the attention factor is left out" + where, "F10", DiagnosedStage::table);
  } else {
    list.measured("attention factor" + where, claimed, found, "F3", DiagnosedStage::table);
  }
}

// In calls on either side of where a rule that looks at lengths begins.
void compare_magnitudes(List& list, const Rope& claimed, const Rope& found) {
  const auto limit = length_limit(found.rope_scaling);
  const double own = magnitude(claimed, 0);
  const double other = magnitude(found, 0);
  if (!limit) return compare_magnitudes(list, own, other, {});
  const double own_beyond = magnitude(claimed, *limit + 1);
  const double other_beyond = magnitude(found, *limit + 1);
  if (own == own_beyond && other == other_beyond) return compare_magnitudes(list, own, other, {});
  compare_magnitudes(list, own, other, fmt::format(" in calls of lengths up to {}", *limit));
  compare_magnitudes(list, own_beyond, other_beyond, fmt::format(" in calls longer than {}", *limit));
}

Rope without_magnitude(Rope rope) {
  if (auto* yarn = std::get_if<YarnScaling>(&rope.rope_scaling)) {
    yarn->attention_factor.reset();
    yarn->mscale.reset();
    yarn->mscale_all_dim.reset();
  }
  return rope;
}

// "rope_scaling.factor 8 instead of 4": what differs in the rule alone.
std::vector<std::string> changed_rule(const Spec& spec, const Rope& claimed, const Rope& found) {
  Spec from = spec;
  from.encoding = without_magnitude(claimed);
  Rope other = claimed;
  other.rope_scaling = found.rope_scaling;
  Spec to = spec;
  to.encoding = without_magnitude(other);
  return changed_fields(from, to);
}

// Where one of longrope's two lists is used at every length, whatever rule makes the same frequencies.
std::string words_of_one_list(const Rope& claimed, const Rope& found) {
  const auto* longrope = std::get_if<LongropeScaling>(&claimed.rope_scaling);
  if (longrope == nullptr || length_limit(found.rope_scaling) || pairs(claimed) != pairs(found)) return {};
  reference::RopeFrequencies own(claimed);
  reference::RopeFrequencies seen(found);
  const auto has_those_of = [&](std::int64_t length) {
    for (std::int64_t i = 0; i < pairs(claimed); ++i) {
      const double one = own.radians(i, length, reference::first_precision).upper();
      const double other = seen.radians(i, length, reference::first_precision).upper();
      if (std::fabs(one - other) > 0x1p-16 * one) return false;
    }
    return true;
  };
  if (has_those_of(1)) return "the short factors are used in long calls too";
  if (has_those_of(longrope->original_max_position_embeddings + 1))
    return "the long factors are used in short calls too";
  return {};
}

// Where longrope's lists are the claimed ones in a format of 16 bits.
std::string words_of_rounded_lists(const Rope& claimed, const Rope& found) {
  const auto* own = std::get_if<LongropeScaling>(&claimed.rope_scaling);
  const auto* seen = std::get_if<LongropeScaling>(&found.rope_scaling);
  if (own == nullptr || seen == nullptr || claimed.rope_theta != found.rope_theta) return {};
  const auto is_rounded = [](Dtype format, const std::vector<double>& from, const std::vector<double>& to) {
    return std::ranges::equal(from, to, {}, [format](double factor) { return round_to(format, factor); });
  };
  for (const Dtype format : {Dtype::bfloat16, Dtype::float16}) {
    const bool are_others = own->short_factor != seen->short_factor || own->long_factor != seen->long_factor;
    if (are_others && is_rounded(format, own->short_factor, seen->short_factor) &&
        is_rounded(format, own->long_factor, seen->long_factor))
      return fmt::format("longrope's factors are rounded to {}", name_of(format));
  }
  return {};
}

// Where ntk's base is stretched by another power of the factor than n / (n - 2), which looks like no rule.
std::string words_of_stretch(const Rope& claimed, const Rope& found) {
  const auto* ntk = std::get_if<NtkScaling>(&claimed.rope_scaling);
  if (ntk == nullptr || !std::holds_alternative<DefaultScaling>(found.rope_scaling) || !(ntk->factor > 1) ||
      pairs(claimed) != pairs(found) || pairs(claimed) < 3)
    return {};
  const auto n = static_cast<double>(rotary_width(claimed));
  const double power = std::log(found.rope_theta / claimed.rope_theta) / std::log(ntk->factor);
  const auto is_near = [&](double other) { return std::fabs(power / other - 1) < 0x1p-12; };
  if (is_near(1)) return "ntk's base is multiplied by the factor itself, where the claim has its power n / (n - 2)";
  if (is_near(n / (n - 4)))
    return "ntk's base is multiplied by the factor's power n / (n - 4), where the claim has n / (n - 2)";
  return {};
}

// Where exponents run to 1, the last pair's, which looks like another base.
std::string words_of_divisor(const Rope& claimed, const Rope& found) {
  const auto count = static_cast<double>(pairs(claimed));
  if (!std::holds_alternative<DefaultScaling>(claimed.rope_scaling) ||
      !std::holds_alternative<DefaultScaling>(found.rope_scaling) || pairs(claimed) != pairs(found) || count < 3 ||
      claimed.rope_theta == found.rope_theta)
    return {};
  if (std::fabs(std::log(found.rope_theta) * (count - 1) / (std::log(claimed.rope_theta) * count) - 1) > 0x1p-14)
    return {};
  return fmt::format(
      "exponents are divided by the number of pairs less one: pair i has base^(-i / {:g}), where the claim has "
      "base^(-i "
      "/ {:g})",
      count - 1, count);
}

std::vector<DiagnosedDifference> compare(const Spec& claimed_spec, const Rope& claimed, const Rope& found) {
  List list;
  if (pairs(found) == 0 && pairs(claimed) > 0) {
    list.add("nothing is rotated", "D11", DiagnosedStage::rotation);
    return list.made();
  }
  if (pairs(found) > 0 && pairs(claimed) == 0) {
    const std::int64_t all = found.head_dim / 2;
    const std::string which = pairs(found) == all ? "vectors are rotated"
                                                  : fmt::format("{} of {} pairs {} rotated", pairs(found), all,
                                                                pairs(found) == 1 ? "is" : "are");
    list.add(fmt::format("{}{}, where rope_type none turns nothing", which,
                         pairs(found) == 1 ? "" : fmt::format(" by base {:.10g}", found.rope_theta)),
             {}, DiagnosedStage::rotation);
    return list.made();
  }
  list.named("pairing", claimed.pairing, found.pairing, "C2", DiagnosedStage::rotation);
  const bool follow = claimed.output_pairing == claimed.pairing && found.output_pairing == found.pairing;
  if (!follow)
    list.named("output_pairing", claimed.output_pairing, found.output_pairing, "C2", DiagnosedStage::rotation);
  // Frequencies of one series, formed over another width, look like those of another base.
  const auto is_power = [&](double power) {
    return std::fabs(std::log(found.rope_theta) * power - std::log(claimed.rope_theta)) < 0x1p-14;
  };
  const bool is_partial = claimed.rotary_dim < claimed.head_dim && found.rotary_dim == claimed.rotary_dim;
  const double share = static_cast<double>(claimed.rotary_dim) / static_cast<double>(claimed.head_dim);
  const bool by_head = is_partial && found.rotary_layout == claimed.rotary_layout && is_power(1 / share);
  // Pairs of the whole head, of which the last stand still.
  const bool lacks_last_pairs = claimed.rotary_dim == claimed.head_dim && found.rotary_dim < claimed.rotary_dim &&
                                found.rotary_layout == RotaryLayout::spread && found.rope_theta == claimed.rope_theta &&
                                found.pairing == claimed.pairing;
  const bool partners_by_head = is_partial && claimed.rotary_layout == RotaryLayout::prefix &&
                                found.rotary_layout == RotaryLayout::spread && is_power(share);
  if (partners_by_head) {
    list.add("partners stand head_dim / 2 apart, where the claim has rotary_dim / 2", "D6", DiagnosedStage::rotation);
  } else {
    if (!lacks_last_pairs)
      list.named("rotary_layout", claimed.rotary_layout, found.rotary_layout, "D6", DiagnosedStage::rotation);
  }
  if (lacks_last_pairs)
    list.add(
        fmt::format("the last {} not turned: rotary_dim {} measured, {} claimed",
                    pairs(found) + 1 == pairs(claimed) ? std::string("pair is")
                                                       : fmt::format("{} pairs are", pairs(claimed) - pairs(found)),
                    found.rotary_dim, claimed.rotary_dim),
        "D4", DiagnosedStage::rotation);
  else
    list.measured("rotary_dim", claimed.rotary_dim, found.rotary_dim, "D4", DiagnosedStage::frequency);
  if (claimed.direction != found.direction)
    list.add(
        fmt::format("direction reversed: claims {}, computes {}", name_of(claimed.direction), name_of(found.direction)),
        "C13", DiagnosedStage::rotation);
  if (const auto words = words_of_one_list(claimed, found); !words.empty()) {
    list.add(words, {}, DiagnosedStage::frequency);
    return list.made();
  }
  if (const std::string words = words_of_rounded_lists(claimed, found); !words.empty()) {
    list.add(words, {}, DiagnosedStage::frequency);
    compare_magnitudes(list, claimed, found);
    return list.made();
  }
  if (const std::string words = words_of_stretch(claimed, found); !words.empty()) {
    list.add(words, "D9", DiagnosedStage::frequency);
    return list.made();
  }
  if (const std::string words = words_of_divisor(claimed, found); !words.empty()) {
    list.add(words, "D4", DiagnosedStage::frequency);
  } else if (by_head) {
    list.add("exponents are divided by head_dim, where the claim has rotary_dim", "D4", DiagnosedStage::frequency);
  } else if (!partners_by_head) {
    list.measured("base", claimed.rope_theta, found.rope_theta, "D1", DiagnosedStage::frequency);
  }
  const auto rule = [&](const Rope& rope) {
    Spec spec = claimed_spec;
    spec.encoding = without_magnitude(rope);
    return rule_text(spec);
  };
  const std::string own = rule(claimed);
  const std::string other = rule(found);
  // Of one rule, the numbers that differ are enough.
  const auto name_in = [](const std::string& text) { return text.substr(0, text.find(" (")); };
  if (own != other && name_in(own) == name_in(other)) {
    for (const std::string& change : changed_rule(claimed_spec, claimed, found))
      list.add(fmt::format("computes {}", change), "D9", DiagnosedStage::frequency);
  } else if (own != other) {
    list.add(fmt::format("claims {}, computes {}", own, other), "D9", DiagnosedStage::frequency);
  }
  compare_magnitudes(list, claimed, found);
  return list.made();
}

std::vector<DiagnosedDifference> compare(const Spec& spec, const RotaryTable& claimed, const RotaryTable& found) {
  return compare(spec, claimed.rope, found.rope);
}

// The base, unless exponents that are others say why it differs; whether it is the base.
enum class SeriesTold { base, exponents };
SeriesTold compare_series(List& list, const FrequencySeries& claimed, const FrequencySeries& found,
                          std::int64_t shift) {
  if (std::string words = words_of_exponents(claimed, found, shift); !words.empty()) {
    const char* row = words.starts_with("each frequency") ? "K5" : "K7";
    list.add(std::move(words), row, DiagnosedStage::frequency);
    return SeriesTold::exponents;
  }
  list.measured("base", claimed.base, found.base, "D1", DiagnosedStage::frequency);
  return SeriesTold::base;
}

FrequencySeries series_of(const Sinusoidal& code) {
  return {code.base, static_cast<double>(pairs(code) - code.downscale_freq_shift)};
}

std::vector<DiagnosedDifference> compare(const Spec&, const Sinusoidal& claimed, const Sinusoidal& found) {
  List list;
  list.named("layout", claimed.layout, found.layout, "C", DiagnosedStage::table);
  list.named("first", claimed.first, found.first, "C", DiagnosedStage::table);
  if (compare_series(list, series_of(claimed), series_of(found), claimed.downscale_freq_shift) == SeriesTold::base)
    list.measured("downscale_freq_shift", claimed.downscale_freq_shift, found.downscale_freq_shift, {},
                  DiagnosedStage::frequency);
  if (const std::int64_t off = found.position_offset - claimed.position_offset; off == 1 || off == -1) {
    list.add(fmt::format("one position off: position_offset {} measured, {} claimed", found.position_offset,
                         claimed.position_offset),
             "H4", DiagnosedStage::position);
  } else {
    list.measured("position_offset", claimed.position_offset, found.position_offset, "H4", DiagnosedStage::position);
  }
  list.measured("scale", claimed.scale, found.scale, {}, DiagnosedStage::table);
  list.measured("angle_scale", claimed.angle_scale, found.angle_scale, {}, DiagnosedStage::angle);
  return list.made();
}

std::string text_of(const std::optional<Dtype>& dtype) {
  return dtype ? std::string(sextant::name_of(*dtype)) : std::string("none");
}

std::vector<DiagnosedDifference> compare(const Spec&, const Alibi& claimed, const Alibi& found) {
  List list;
  // Under a causal mask nothing is claimed of later keys.
  if (claimed.mask == Mask::symmetric) list.named("mask", claimed.mask, found.mask);
  list.named("form", claimed.form, found.form);
  list.named("slopes", claimed.slopes, found.slopes);
  list.measured("bias_max", claimed.bias_max, found.bias_max);
  if (claimed.slope_dtype != found.slope_dtype)
    list.add(
        fmt::format("claims slope_dtype {}, computes {}", text_of(claimed.slope_dtype), text_of(found.slope_dtype)));
  return list.made();
}

std::vector<DiagnosedDifference> compare(const Spec&, const RelativeBias& claimed, const RelativeBias& found) {
  List list;
  list.named("buckets", claimed.buckets, found.buckets, "M16");
  if (claimed.bidirectional != found.bidirectional)
    list.add(fmt::format("claims bidirectional {}, computes {}", claimed.bidirectional, found.bidirectional));
  list.named("later_keys", claimed.later_keys, found.later_keys);
  list.measured("max_distance", claimed.max_distance, found.max_distance);
  return list.made();
}

template <class Number>
std::string listed(const std::vector<Number>& values) {
  return values.empty() ? "none" : fmt::format("{}", fmt::join(values, ", "));
}

template <class Number>
void lists(List& list, std::string_view field, const std::vector<Number>& claimed, const std::vector<Number>& found,
           DiagnosedStage stage = DiagnosedStage::other) {
  if (claimed != found)
    list.add(fmt::format("claims {} {}, computes {}", field, listed(claimed), listed(found)), {}, stage);
}

template <class Code>
std::vector<DiagnosedDifference> compare_numbers(const Code& claimed, const Code& found) {
  List list;
  if (claimed.normalize != found.normalize)
    list.add(fmt::format("claims normalize {}, computes {}", claimed.normalize, found.normalize));
  return list.made();
}

std::vector<DiagnosedDifference> compare(const Spec&, const Integer& claimed, const Integer& found) {
  return compare_numbers(claimed, found);
}

std::vector<DiagnosedDifference> compare(const Spec&, const Binary& claimed, const Binary& found) {
  return compare_numbers(claimed, found);
}

std::vector<DiagnosedDifference> compare(const Spec&, const LogCoordinates& claimed, const LogCoordinates& found) {
  List list;
  lists(list, "pretrained_window", claimed.pretrained_window, found.pretrained_window, DiagnosedStage::position);
  return list.made();
}

void join(List& list, std::vector<DiagnosedDifference> more) {
  for (DiagnosedDifference& one : more) list.add(std::move(one.words), std::move(one.row), one.stage);
}

// base^(-k/m) of the head's m pairs is (base^(n/m))^(-k/n) of an axis' n.
bool divides_by_head(const RopeNd& claimed, const RopeNd& found) {
  if (!claimed.rope_thetas.empty() || found.rope_thetas.size() != found.sections.size()) return false;
  const auto all = static_cast<double>(pairs(claimed.rope));
  for (std::size_t axis = 0; axis < found.sections.size(); ++axis) {
    const double power = static_cast<double>(found.sections[axis]) / all;
    if (std::fabs(std::log(found.rope_thetas[axis]) - power * std::log(claimed.rope.rope_theta)) > 0x1p-12)
      return false;
  }
  return true;
}

std::vector<DiagnosedDifference> compare(const Spec& spec, const RopeNd& claimed, const RopeNd& found) {
  List list;
  lists(list, "sections", claimed.sections, found.sections);
  if (claimed.rope.parts != found.rope.parts)
    list.add(found.rope.parts == 1
                 ? "partners stand in the whole head, where the claim has them within each axis' part"
                 : "partners stand within each axis' part, where the claim has them in the whole head",
             "D6", DiagnosedStage::rotation);
  list.named("section_order", claimed.section_order, found.section_order);
  lists(list, "axes in the order", order_of_axes(claimed), order_of_axes(found));
  if (divides_by_head(claimed, found)) {
    list.add("each axis begins its frequencies anew, and divides exponents by the head's width", "D4",
             DiagnosedStage::frequency);
  } else {
    list.named("frequencies", claimed.frequencies, found.frequencies, {}, DiagnosedStage::frequency);
    lists(list, "bases", claimed.rope_thetas, found.rope_thetas, DiagnosedStage::frequency);
  }
  list.named("ladder", claimed.ladder, found.ladder, {}, DiagnosedStage::frequency);
  list.named("coordinates", claimed.coordinates, found.coordinates, {}, DiagnosedStage::position);
  if (claimed.coordinates == found.coordinates) {
    lists(list, "extents", claimed.extents, found.extents, DiagnosedStage::position);
    lists(list, "coordinate_shifts", claimed.coordinate_shifts, found.coordinate_shifts, DiagnosedStage::position);
    lists(list, "coordinate_scales", claimed.coordinate_scales, found.coordinate_scales, DiagnosedStage::position);
  }
  join(list, compare(spec, claimed.rope, found.rope));
  return list.made();
}

std::string centre_text(const std::variant<std::int64_t, HalfOfCall>& centre) {
  if (const auto* position = std::get_if<std::int64_t>(&centre)) return fmt::format("position {}", *position);
  return fmt::format("half of the call's length, rounded {}",
                     std::get<HalfOfCall>(centre) == HalfOfCall::floor ? "down" : "up");
}

std::vector<DiagnosedDifference> compare(const Spec& spec, const Xpos& claimed, const Xpos& found) {
  List list;
  list.named("role", claimed.role, found.role);
  list.measured("scale_base", claimed.scale_base, found.scale_base);
  if (claimed.centre != found.centre)
    list.add(fmt::format("pairs keep their length at {}, where the claim has {}", centre_text(found.centre),
                         centre_text(claimed.centre)));
  join(list, compare(spec, claimed.rope, found.rope));
  return list.made();
}

std::vector<DiagnosedDifference> compare(const Spec& spec, const QkNormRope& claimed, const QkNormRope& found) {
  List list;
  list.measured("weight_offset", claimed.weight_offset, found.weight_offset);
  list.measured("epsilon", claimed.epsilon, found.epsilon);
  join(list, compare(spec, claimed.rope, found.rope));
  return list.made();
}

std::vector<DiagnosedDifference> compare(const Spec&, const Sinusoidal2d& claimed, const Sinusoidal2d& found) {
  List list;
  list.named("axis_order", claimed.axis_order, found.axis_order, {}, DiagnosedStage::position);
  list.named("layout", claimed.layout, found.layout, "C", DiagnosedStage::table);
  compare_series(list, series_of(half_of(claimed)), series_of(half_of(found)), 0);
  return list.made();
}

std::vector<DiagnosedDifference> compare(const Spec&, const SinusoidalNd& claimed, const SinusoidalNd& found) {
  List list;
  lists(list, "channels", claimed.channels, found.channels);
  lists(list, "axes in the order", order_of_axes(claimed), order_of_axes(found));
  list.named("channel_order", claimed.channel_order, found.channel_order);
  list.named("layout", claimed.layout, found.layout, "C", DiagnosedStage::table);
  list.named("first", claimed.first, found.first, "C", DiagnosedStage::table);
  if (claimed.channels == found.channels && claimed.denominator == found.denominator)
    compare_series(list, series_of(code_of_axis(claimed, 0)), series_of(code_of_axis(found, 0)), 0);
  else
    list.measured("base", claimed.base, found.base, "D1", DiagnosedStage::frequency);
  list.named("denominator", claimed.denominator, found.denominator, {}, DiagnosedStage::frequency);
  list.measured("position_offset", claimed.position_offset, found.position_offset, "H4", DiagnosedStage::position);
  list.named("coordinates", claimed.coordinates, found.coordinates, {}, DiagnosedStage::position);
  if (claimed.coordinates == found.coordinates) list.measured("epsilon", claimed.epsilon, found.epsilon);
  lists(list, "scales", claimed.scales, found.scales);
  return list.made();
}

std::vector<DiagnosedDifference> compare(const Spec&, const Fourier& claimed, const Fourier& found) {
  List list;
  list.named("angle_unit", claimed.angle_unit, found.angle_unit, {}, DiagnosedStage::angle);
  list.named("first", claimed.first, found.first, "C", DiagnosedStage::table);
  list.named("channel_order", claimed.channel_order, found.channel_order, {}, DiagnosedStage::table);
  list.named("identity", claimed.identity, found.identity, {}, DiagnosedStage::table);
  list.named("coordinates", claimed.coordinates, found.coordinates, {}, DiagnosedStage::position);
  if (claimed.coordinates == found.coordinates)
    lists(list, "extents", claimed.extents, found.extents, DiagnosedStage::position);
  list.named("ladder", claimed.ladder, found.ladder, {}, DiagnosedStage::frequency);
  list.measured("lowest", claimed.lowest, found.lowest, {}, DiagnosedStage::frequency);
  list.measured("highest", claimed.highest, found.highest, {}, DiagnosedStage::frequency);
  return list.made();
}

std::string text_of(const std::optional<PositionEncoding>& position) {
  return position ? std::string(encoding_name(*position)) : "none";
}

std::string text_of(const std::optional<QueryScale>& scale) {
  if (!scale) return "no query_scale";
  if (scale->rule == QueryScaleRule::log_n)
    return fmt::format("query_scale log_n (length {}, offset {})", scale->length, scale->offset);
  return fmt::format("query_scale (amount {:.10g}, period {}, offset {})", scale->amount, scale->period, scale->offset);
}

std::vector<DiagnosedDifference> compare(const Spec& spec, const Attention& claimed, const Attention& found) {
  List list;
  if (claimed.causal != found.causal)
    list.add(fmt::format("claims causal {}, computes {}", claimed.causal, found.causal));
  if (claimed.window != found.window)
    list.add(fmt::format("window {} measured, {} claimed", found.window ? fmt::format("{}", *found.window) : "none",
                         claimed.window ? fmt::format("{}", *claimed.window) : "none"));
  list.measured("softmax_scale", score_scale(claimed), score_scale(found));
  if (const std::string own = text_of(claimed.query_scale), other = text_of(found.query_scale); own != other)
    list.add(fmt::format("claims {}, computes {}", own, other));
  if (claimed.logit_softcap && found.logit_softcap)
    list.measured("logit_softcap", *claimed.logit_softcap, *found.logit_softcap);
  else if (claimed.logit_softcap != found.logit_softcap)
    list.add(claimed.logit_softcap ? fmt::format("no logit_softcap measured, {:.10g} claimed", *claimed.logit_softcap)
                                   : fmt::format("logit_softcap {:.10g} measured, none claimed", *found.logit_softcap));
  const Rope* claimed_rope = carried<Rope>(claimed);
  const Rope* found_rope = carried<Rope>(found);
  const Alibi* claimed_alibi = carried<Alibi>(claimed);
  const Alibi* found_alibi = carried<Alibi>(found);
  if (claimed_rope != nullptr && found_rope != nullptr) {
    join(list, compare(spec, *claimed_rope, *found_rope));
  } else if (claimed_alibi != nullptr && found_alibi != nullptr) {
    join(list, compare(spec, *claimed_alibi, *found_alibi));
  } else if (carried<RopeNd>(claimed) != nullptr && carried<RopeNd>(found) != nullptr) {
    join(list, compare(spec, *carried<RopeNd>(claimed), *carried<RopeNd>(found)));
  } else if (text_of(claimed.position) != text_of(found.position)) {
    list.add(fmt::format("claims position {}, computes {}", text_of(claimed.position), text_of(found.position)));
  }
  return list.made();
}

}  // namespace

std::vector<DiagnosedDifference> differences(const Spec& claimed, const Spec& found) {
  const auto of_encoding = [&](const auto& encoding) -> std::vector<DiagnosedDifference> {
    using Type = std::remove_cvref_t<decltype(encoding)>;
    const Type* other = held<Type>(found);
    if constexpr (requires { compare(claimed, encoding, encoding); }) {
      if (other != nullptr) return compare(claimed, encoding, *other);
    }
    return {};
  };
  return of_each(claimed, of_encoding);
}

}  // namespace sextant::identify
