#include "lib/spec/spec.hpp"

#include <fmt/format.h>

#include <cmath>

namespace sextant {
namespace {

constexpr std::int64_t position_limit = std::int64_t{1} << 53;
constexpr std::int64_t width_limit = std::int64_t{1} << 20;

[[noreturn]] void refuse(std::string_view field, std::string_view expected) {
  throw SpecError(fmt::format("spec: {}: {}", field, expected));
}

void check_even_width(std::string_view field, std::int64_t width) {
  if (width < 2 || width % 2 != 0 || width > width_limit) {
    refuse(field, fmt::format("expected an even number from 2 to {}, got {}", width_limit, width));
  }
}

void check_base(std::string_view field, double base) {
  // Below 1 the "wavelengths" would shrink with the pair and frequencies pass one radian per position without bound;
  // no published setting has that, and a typing error (0.0001 for 10000) is the likelier cause.
  if (!(base >= 1) || std::isinf(base)) refuse(field, fmt::format("expected a finite number of at least 1, got {}", base));
}

void check(const Sinusoidal& encoding) {
  check_even_width("dim", encoding.dim);
  check_base("base", encoding.base);
  if (encoding.denominator == Denominator::half_minus_one && encoding.dim < 4) {
    refuse("denominator", "half_minus_one divides by dim/2 - 1, so dim must be at least 4");
  }
  if (encoding.position_offset < -position_limit || encoding.position_offset > position_limit) {
    refuse("position_offset", "expected an integer from -2^53 to 2^53");
  }
  if (!std::isfinite(encoding.scale) || encoding.scale == 0) refuse("scale", "expected a finite number other than 0");
}

void check(const Rope& encoding) {
  check_even_width("head_dim", encoding.head_dim);
  check_even_width("rotary_dim", encoding.rotary_dim);
  if (encoding.rotary_dim > encoding.head_dim) {
    refuse("rotary_dim", fmt::format("expected at most head_dim = {}, got {}", encoding.head_dim, encoding.rotary_dim));
  }
  check_base("rope_theta", encoding.rope_theta);
}

}  // namespace

std::int64_t pairs(const Sinusoidal& encoding) { return encoding.dim / 2; }

std::int64_t pairs(const Rope& encoding) { return encoding.rotary_dim / 2; }

Channels channels_of_pair(const Sinusoidal& encoding, std::int64_t pair) {
  const bool interleaved = encoding.layout == Layout::interleaved;
  const std::int64_t earlier = interleaved ? 2 * pair : pair;
  const std::int64_t later = interleaved ? 2 * pair + 1 : pair + pairs(encoding);
  return encoding.first == First::sin ? Channels{earlier, later} : Channels{later, earlier};
}

Channels channels_of_pair(const Rope& encoding, Pairing pairing, std::int64_t pair) {
  if (pairing == Pairing::interleaved) return {2 * pair, 2 * pair + 1};
  const std::int64_t width = encoding.rotary_layout == RotaryLayout::prefix ? encoding.rotary_dim : encoding.head_dim;
  return {pair, pair + width / 2};
}

std::vector<Passthrough> passthrough_channels(const Rope& encoding) {
  std::vector<Passthrough> channels;
  if (encoding.rotary_layout == RotaryLayout::prefix) {
    for (std::int64_t i = encoding.rotary_dim; i < encoding.head_dim; ++i) channels.push_back({i, i});
    return channels;
  }
  // The pairs of frequency 0 still move from the input's pairing to the output's.
  for (std::int64_t pair = pairs(encoding); pair < encoding.head_dim / 2; ++pair) {
    const Channels from = channels_of_pair(encoding, encoding.pairing, pair);
    const Channels to = channels_of_pair(encoding, encoding.output_pairing, pair);
    channels.push_back({to.first, from.first});
    channels.push_back({to.second, from.second});
  }
  return channels;
}

std::string_view encoding_name(const Spec& spec) {
  return std::holds_alternative<Sinusoidal>(spec.encoding) ? "sinusoidal" : "rope";
}

std::string_view name_of(AccuracyClass accuracy) {
  switch (accuracy) {
    case AccuracyClass::correctly_rounded: return "correctly-rounded";
    case AccuracyClass::faithful: return "faithful";
    case AccuracyClass::exact_angle: return "exact-angle";
    case AccuracyClass::float32_angle: return "float32-angle";
    case AccuracyClass::float16_angle: return "float16-angle";
    case AccuracyClass::bfloat16_angle: return "bfloat16-angle";
  }
  throw std::invalid_argument("name_of: no such accuracy class");
}

void validate(const Spec& spec) {
  if (spec.dtype == Dtype::int64) refuse("dtype", "expected float64, float32, float16 or bfloat16");
  if (spec.min_position < -position_limit || spec.min_position >= position_limit) {
    refuse("min_position", "expected an integer from -2^53 to 2^53 - 1");
  }
  if (spec.max_position <= spec.min_position || spec.max_position > position_limit) {
    refuse("max_position", fmt::format("expected an integer above min_position = {} and at most 2^53, got {}",
                                       spec.min_position, spec.max_position));
  }
  std::visit([](const auto& encoding) { check(encoding); }, spec.encoding);
}

std::string describe(const Spec& spec) {
  const auto width = std::visit(
      [](const auto& encoding) {
        if constexpr (requires { encoding.dim; }) {
          return fmt::format("dim {}", encoding.dim);
        } else if (encoding.rotary_dim == encoding.head_dim) {
          return fmt::format("head_dim {}", encoding.head_dim);
        } else {
          return fmt::format("head_dim {} rotary_dim {}", encoding.head_dim, encoding.rotary_dim);
        }
      },
      spec.encoding);
  return fmt::format("{} {} {}", encoding_name(spec), width, name_of(spec.dtype));
}

}  // namespace sextant
