#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "lib/numeric/ulp.hpp"
#include "properties/catalogue.hpp"
#include "properties/gen/vectors.hpp"
#include "properties/model/family.hpp"
#include "properties/model/questions.hpp"
#include "properties/rope/turned.hpp"
#include "subjects/operations.hpp"

namespace sextant {
namespace {

// What copies betray themselves by: subnormals, the largest value, values that a narrower type cannot hold, and zeros
// of either sign.
double telling_value(Dtype dtype, std::int64_t index) {
  const Format format = format_of(dtype);
  const double least = std::ldexp(1.0, format.min_exponent - format.precision + 1);
  const double third = round_to(dtype, 1.0 / 3);
  const std::array values{least, -largest_finite(dtype), third, -1.0, 3 * least, next_below(dtype, 1), 0.0, -0.0};
  return values[static_cast<std::size_t>(index) % values.size()];
}

// What else does, in one channel of a vector.
constexpr std::array specials{std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
                              -std::numeric_limits<double>::infinity()};
struct Special {
  std::int64_t channel;
  double value;
};

// Whether code may have multiplied the channels by 1 and added another's times 0, as some does for a head whose other
// pairs turn. That makes +0 of -0, and NaN beside what is not finite. It has no reason to where no pair turns; nor
// under the suffix layout of rope, whose first channels are another projection's, which rotated ones are appended to
// (DeepSeek-V2, arXiv 2405.04434, section 2.1.3).
enum class Carried { copied, by_one_and_zero };

Carried carried(const Rope& head) {
  return pairs(head) == 0 || head.rotary_layout == RotaryLayout::suffix ? Carried::copied : Carried::by_one_and_zero;
}
// A suffix of an axial rotation stands behind padding, pairs by a sine of 0 and a cosine of 1 (LTX-Video).
Carried carried(const RopeNd& encoding) {
  return pairs(encoding.rope) == 0 ? Carried::copied : Carried::by_one_and_zero;
}

bool is_kept(double given, double got, Carried how, bool beside_special) {
  if (std::isnan(given)) return std::isnan(got);
  if (how == Carried::copied) return given == got && std::signbit(given) == std::signbit(got);
  return given == got || (beside_special && std::isnan(got));
}

CheckOf<Question> check_of(const Spec& spec, const Rope& encoding, Carried how) {
  return [spec, encoding, how, untouched = passthrough_channels(encoding)](Session& session, const Question& question) {
    const gen::Extents extents{.batch = question.batch, .tokens = question.tokens, .heads = question.heads};
    Tensor x = gen::vectors(encoding, spec.dtype, extents, question.fill + 1);
    // Every other vector has a special value, in one channel after the other.
    const auto special_of = [&](std::int64_t vector) -> std::optional<Special> {
      const auto number = static_cast<std::size_t>(question.fill + vector);
      if (number % 2 == 0) return std::nullopt;
      const std::size_t turn = number / 2;
      return Special{untouched[turn % untouched.size()].input,
                     specials[(turn + turn / untouched.size()) % specials.size()]};
    };
    for (std::int64_t start = 0; start < x.elements(); start += encoding.head_dim) {
      const std::int64_t vector = start / encoding.head_dim;
      for (const Passthrough& channel : untouched)
        x.set(start + channel.input, telling_value(spec.dtype, question.fill + start + channel.input));
      if (const auto special = special_of(vector)) x.set(start + special->channel, special->value);
    }
    const std::vector<std::int64_t> of_axis = gen::positions(gen::range_of(spec), question.position, extents);
    std::vector<std::int64_t> positions;
    for (std::int64_t axis = 0; axis < axes_of(spec.encoding); ++axis)
      positions.insert(positions.end(), of_axis.begin(), of_axis.end());
    const Tensor y = rotate(session, spec, x, positions);
    Judgement judgement;
    for (std::int64_t start = 0; start < x.elements(); start += encoding.head_dim) {
      const std::int64_t vector = start / encoding.head_dim;
      for (const Passthrough& channel : untouched) {
        const double given = x.at(start + channel.input);
        const double got = y.at(start + channel.output);
        judgement.add_exact(
            is_kept(given, got, how, special_of(vector).has_value())
                ? std::nullopt
                : std::optional(fmt::format("vector {}, channel {}, not rotated: {} became {}", vector, channel.output,
                                            value_text(spec.dtype, given), value_text(spec.dtype, got))),
            [] { return "every channel that is not rotated has its value"; });
      }
    }
    return judgement;
  };
}

}  // namespace

Property untouched_channels_property() {
  Property property;
  property.id = "untouched_channels";
  property.level = Level::contract;
  property.needs = Needs::live_subject;
  property.explanation = {
      "channels that are not rotated keep their values",
      "(R x)_c = x_c for every channel c behind the rotary_dim that turn (prefix), before them (suffix) or of a pair "
      "standing still (spread, rope_type none)",
      "GPT-J and GPT-NeoX, which rotate a part of each head (Wang and Komatsuzaki 2021; Black et al. 2022, section "
      "2.1)",
      "rope and rope_nd with rotary_dim below head_dim or rope_type none",
      "none: the values are equal; subnormals, the largest finite value, NaN and infinities are among them. Under "
      "rope's "
      "suffix layout and rope_type none zeros keep their signs; elsewhere x * 1 + x' * 0 is as good as a copy: -0 may "
      "become 0, and what stands in a vector beside NaN or infinity may become NaN",
      "kernels that rotate up to the next power of two, default rotary_dim to head_dim, zero the tail, copy it through "
      "another type, flush subnormals, or clean NaN"};
  property.not_applicable =
      stated_for<Rope, RopeNd>([](const Spec&, const auto& encoding) -> std::optional<std::string> {
        if (passthrough_channels(head_of(encoding)).empty()) return "every channel is rotated";
        return std::nullopt;
      });
  use_cases(property, questions(), of<Rope, RopeNd>([](const Spec& spec, const auto& encoding) {
              return check_of(spec, head_of(encoding), carried(encoding));
            }));
  return property;
}

}  // namespace sextant
