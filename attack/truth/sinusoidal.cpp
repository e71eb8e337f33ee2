#include <fmt/format.h>

#include "attack/truth/truths.hpp"
#include "lib/numeric/hex_text.hpp"

// Vaswani et al. 2017, section 3.5: PE(pos, 2i) = sin(pos / 10000^(2i/d)), PE(pos, 2i+1) = cos(pos / 10000^(2i/d));
// tensor2tensor's timing signal (common_attention.py, get_timing_signal_1d) divides by (number of timescales - 1)
// instead, sines first, then cosines. Timestep embeddings of diffusion models (Ho et al. 2020, nn.py of its code,
// get_timestep_embedding) do so too and pad an odd width with a zero; diffusers (embeddings.py) divides by the number
// of timescales less any shift, and multiplies angles by a scale. Positions count steps of size 2^-k. He et al. 2021
// (MAE, util/pos_embed.py): half of a grid's channels for each axis.

namespace sextant::attack {
namespace {

// Judges one coordinate's code of `encoding` in the row's elements from `start` on.
void judge_code(const Sinusoidal& encoding, const Frequencies& frequencies, std::int64_t position, std::int64_t start,
                Checker& checker) {
  const std::int64_t half = encoding.dim / 2;
  const std::int64_t at = position + encoding.position_offset;
  for (std::int64_t pair = 0; pair < half; ++pair) {
    const bool side_by_side = encoding.layout == Layout::interleaved;
    const std::int64_t earlier = start + (side_by_side ? 2 * pair : pair);
    const std::int64_t later = side_by_side ? earlier + 1 : earlier + half;
    const std::int64_t of_sine = encoding.first == First::sin ? earlier : later;
    const std::int64_t of_cosine = encoding.first == First::sin ? later : earlier;
    if (at == 0) {
      checker.same(of_sine, 0, "sin of position 0 is +0");
      checker.nearest(of_cosine, std::nullopt, [&](long bits) { return exactly(bits, encoding.scale); });
      continue;
    }
    const auto turn = frequencies.quickly_turned(pair, at);
    const auto scaled = [&](long double value) -> Quick {
      const long double y = value * static_cast<long double>(encoding.scale);
      return {y, 2 * quick_error * std::abs(y)};
    };
    const auto exact = [&](Interval SineAndCosine::*which) {
      return [&, which](long bits) -> std::optional<Interval> {
        const auto precise = frequencies.turned(pair, at, bits);
        if (!precise) return std::nullopt;
        return (*precise).*which * exactly(bits, encoding.scale);
      };
    };
    checker.nearest(of_sine, turn ? std::optional(scaled(turn->sine)) : std::nullopt, exact(&SineAndCosine::sine));
    checker.nearest(of_cosine, turn ? std::optional(scaled(turn->cosine)) : std::nullopt,
                    exact(&SineAndCosine::cosine));
  }
}

}  // namespace

std::shared_ptr<const Frequencies> frequencies_of(const Sinusoidal& encoding) {
  const std::int64_t half = encoding.dim / 2;
  const std::int64_t timescales = half - encoding.downscale_freq_shift;
  const auto name = fmt::format("sinusoidal {} {} {} {} {}", half, timescales, hex_text(encoding.base),
                                hex_text(encoding.angle_scale), hex_text(encoding.positions.step));
  return kept_frequencies(
      name, [=, base = encoding.base, scale = encoding.angle_scale, step = encoding.positions.step] {
        return Frequencies(half, [=](std::int64_t pair, long bits) {
          return inverse_power(base, pair, timescales, bits) * exactly(bits, scale) * exactly(bits, step);
        });
      });
}

void judge_encoding(const Sinusoidal& encoding, const Case& example, Checker& checker) {
  const auto frequencies = frequencies_of(encoding);
  std::int64_t start = 0;
  for (const std::int64_t position : positions_of(example)) {
    judge_code(encoding, *frequencies, position, start, checker);
    start += encoding.dim;
    if (encoding.dim % 2 != 0) checker.same(start - 1, 0, "the last channel of an odd width is +0");
  }
}

void judge_encoding(const Sinusoidal2d& encoding, const Case& example, Checker& checker) {
  Sinusoidal half;
  half.dim = encoding.dim / 2;
  half.base = encoding.base;
  half.layout = encoding.layout;
  const auto frequencies = frequencies_of(half);
  const std::int64_t count = std::ssize(example.positions) / 2;
  for (std::int64_t token = 0; token < count; ++token) {
    const std::int64_t row = example.positions[static_cast<std::size_t>(token)];
    const std::int64_t column = example.positions[static_cast<std::size_t>(count + token)];
    const bool height_first = encoding.axis_order == AxisOrder::height_first;
    judge_code(half, *frequencies, height_first ? row : column, token * encoding.dim, checker);
    judge_code(half, *frequencies, height_first ? column : row, token * encoding.dim + half.dim, checker);
  }
}

}  // namespace sextant::attack
