#include <fmt/format.h>

#include <array>
#include <cmath>

#include "lib/numeric/ulp.hpp"
#include "properties/catalogue.hpp"
#include "properties/gen/vectors.hpp"
#include "properties/model/family.hpp"
#include "properties/model/questions.hpp"
#include "properties/rope/turned.hpp"
#include "subjects/operations.hpp"

namespace sextant {
namespace {

// What copies betray themselves by: subnormals, the largest value, and values that a narrower type cannot hold. NaN,
// infinities and the sign of zero are not among them: multiplying by cos 0 = 1 and adding a product with sin 0 = 0, as
// honest code does for such channels, changes those.
double telling_value(Dtype dtype, std::int64_t index) {
  const Format format = format_of(dtype);
  const double least = std::ldexp(1.0, format.min_exponent - format.precision + 1);
  const double third = round_to(dtype, 1.0 / 3);
  const std::array values{least, -largest_finite(dtype), third, -1.0, 3 * least, next_below(dtype, 1), 0.0};
  return values[static_cast<std::size_t>(index) % values.size()];
}

CheckOf<Question> check_of(const Spec& spec, const Rope& encoding) {
  return [spec, encoding, untouched = passthrough_channels(encoding)](Session& session, const Question& question) {
    const gen::Extents extents{.batch = question.batch, .tokens = question.tokens, .heads = question.heads};
    Tensor x = gen::vectors(encoding, spec.dtype, extents, question.fill + 1);
    for (std::int64_t start = 0; start < x.elements(); start += encoding.head_dim) {
      for (const Passthrough& channel : untouched)
        x.set(start + channel.input, telling_value(spec.dtype, question.fill + start + channel.input));
    }
    const std::vector<std::int64_t> of_axis = gen::positions(gen::range_of(spec), question.position, extents);
    std::vector<std::int64_t> positions;
    for (std::int64_t axis = 0; axis < axes_of(spec.encoding); ++axis)
      positions.insert(positions.end(), of_axis.begin(), of_axis.end());
    const Tensor y = rotate(session, spec, x, positions);
    Judgement judgement;
    for (std::int64_t start = 0; start < x.elements(); start += encoding.head_dim) {
      for (const Passthrough& channel : untouched) {
        const double given = x.at(start + channel.input);
        const double got = y.at(start + channel.output);
        judgement.add_exact(given == got
                                ? std::nullopt
                                : std::optional(fmt::format("vector {}, channel {}, not rotated: {} became {}",
                                                            start / encoding.head_dim, channel.output, given, got)),
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
      "none: the values are equal; subnormals and the largest finite value are among them",
      "kernels that rotate up to the next power of two, default rotary_dim to head_dim, zero the tail, copy it through "
      "another type, or flush subnormals"};
  property.not_applicable =
      stated_for<Rope, RopeNd>([](const Spec&, const auto& encoding) -> std::optional<std::string> {
        if (passthrough_channels(head_of(encoding)).empty()) return "every channel is rotated";
        return std::nullopt;
      });
  use_cases(property, questions(),
            of<Rope, RopeNd>([](const Spec& spec, const auto& encoding) { return check_of(spec, head_of(encoding)); }));
  return property;
}

}  // namespace sextant
