#include <cmath>

#include "attack/truth/truths.hpp"
#include "lib/spec/spec.hpp"

// Codes of several coordinates. diffusers (models/embeddings.py, get_3d_sincos_pos_embed): time first, a quarter of the
// channels, then columns and rows, each grid divided by its interpolation scale. LoFTR (utils/position_encoding.py):
// pe[0::4] = sin x, pe[1::4] = cos x, pe[2::4] = sin y, pe[3::4] = cos y, positions from 1 on. DETR
// (models/position_encoding.py): y / (y[-1] + eps) * 2 pi. positional-encodings (PositionalEncoding3D): equal axes, cut
// to as many channels as are asked for; Mask3D and its kin pad with zeros.

namespace sextant::attack {
namespace {

Interval of_unit(const SinusoidalNd& encoding, std::size_t axis, long bits) {
  if (encoding.coordinates == Coordinates::index) {
    const double scale = encoding.scales.empty() ? 1 : encoding.scales[axis];
    return exactly(bits, 1.0) / exactly(bits, scale);
  }
  // Precise enough for the sum to be exact: it has no more bits than 2^54 has places above those of epsilon.
  const long wide = std::max(bits, 1200L);
  const Interval last = exactly(wide, encoding.extents[axis]) + exactly(wide, encoding.position_offset - 1) +
                        exactly(wide, encoding.epsilon);
  return exactly(bits, 2.0) * pi(bits) / last;
}

// A number of quarters of a turn, mod 4, where the angle is a whole one to 4000 bits.
std::optional<int> quarters(const Frequencies& frequencies, std::int64_t pair, std::int64_t position) {
  std::optional<int> found;
  for (const long bits : {first_precision, 4200L}) {
    const auto w = frequencies.radians(pair, bits);
    if (!w) return std::nullopt;
    const Interval count = *w * exactly(bits, position) * exactly(bits, 2.0) / pi(bits);
    const std::int64_t whole = mpfr_get_sj(count.low.get(), MPFR_RNDN);
    const Interval point = exactly(bits, whole);
    if (mpfr_cmp(count.low.get(), point.low.get()) > 0 || mpfr_cmp(count.high.get(), point.low.get()) < 0)
      return std::nullopt;
    found = static_cast<int>(((whole % 4) + 4) % 4);
  }
  return found;
}

// Where an axis' own channel lies in the row.
struct Placement {
  std::int64_t start;   // of its block, or of its first pair
  std::int64_t stride;  // from one of its pairs to the next, where axes alternate; else 0
};

Placement placement(const SinusoidalNd& encoding, std::int64_t axis) {
  const std::int64_t count = std::ssize(encoding.extents);
  std::int64_t start = 0;
  std::int64_t place = 0;
  while (place < count) {
    const std::int64_t here =
        encoding.axis_order.empty() ? place : encoding.axis_order[static_cast<std::size_t>(place)];
    if (here == axis) break;
    start += encoding.channels[static_cast<std::size_t>(here)];
    ++place;
  }
  if (encoding.channel_order == ChannelOrder::blocked) return {start, 0};
  return {2 * place, 2 * count};
}

}  // namespace

std::shared_ptr<const Frequencies> frequencies_of(const SinusoidalNd& encoding, std::int64_t axis) {
  Spec named;
  named.encoding = encoding;
  return kept_frequencies(to_json(named) + std::to_string(axis), [&] {
    const auto a = static_cast<std::size_t>(axis);
    const std::int64_t channels = encoding.channels[a];
    const std::int64_t divisor = encoding.denominator == Denominator::dim ? channels : channels - 2;
    return Frequencies(channels / 2, [=](std::int64_t pair, long bits) -> std::optional<Interval> {
      return inverse_power(encoding.base, 2 * pair, divisor, bits) * of_unit(encoding, a, bits);
    });
  });
}

void judge_encoding(const SinusoidalNd& encoding, const Case& example, Checker& checker) {
  const std::int64_t axes = std::ssize(encoding.extents);
  const std::int64_t tokens = std::ssize(example.positions) / axes;
  std::int64_t all = 0;
  for (std::int64_t axis = 0; axis < axes; ++axis) {
    const std::int64_t channels = encoding.channels[static_cast<std::size_t>(axis)];
    all += channels;
    const auto frequencies = frequencies_of(encoding, axis);
    const auto [start, stride] = placement(encoding, axis);
    const bool side_by_side = encoding.layout == Layout::interleaved;
    for (std::int64_t token = 0; token < tokens; ++token) {
      const std::int64_t at =
          example.positions[static_cast<std::size_t>(axis * tokens + token)] + encoding.position_offset;
      for (std::int64_t pair = 0; pair < channels / 2; ++pair) {
        const std::int64_t begin = stride > 0 ? start + stride * pair : side_by_side ? start + 2 * pair : start + pair;
        const std::int64_t end = side_by_side ? begin + 1 : begin + channels / 2;
        const std::int64_t of_sine = encoding.first == First::sin ? begin : end;
        const std::int64_t of_cosine = encoding.first == First::sin ? end : begin;
        const auto quarter = at == 0                                           ? std::optional(0)
                             : encoding.coordinates == Coordinates::normalized ? quarters(*frequencies, pair, at)
                                                                               : std::nullopt;
        const auto turn = quarter ? std::nullopt : frequencies->quickly_turned(pair, at);
        const auto check = [&](std::int64_t channel, int ahead, long double QuickTurn::*quick,
                               Interval SineAndCosine::*exact) {
          if (channel >= encoding.dim) return;
          const std::int64_t element = token * encoding.dim + channel;
          if (quarter && (*quarter + ahead) % 2 == 0) return checker.same(element, 0, "+0 at a quarter of a turn");
          if (quarter) {
            const double one = (*quarter + ahead) % 4 == 1 ? 1 : -1;
            return checker.nearest(element, std::nullopt, [&](long bits) { return exactly(bits, one); });
          }
          checker.nearest(
              element,
              turn ? std::optional(Quick{(*turn).*quick, 2 * quick_error * std::abs((*turn).*quick)}) : std::nullopt,
              [&](long bits) -> std::optional<Interval> {
                const auto precise = frequencies->turned(pair, at, bits);
                if (!precise) return std::nullopt;
                return (*precise).*exact;
              });
        };
        check(of_sine, 0, &QuickTurn::sine, &SineAndCosine::sine);
        check(of_cosine, 1, &QuickTurn::cosine, &SineAndCosine::cosine);
      }
    }
  }
  for (std::int64_t token = 0; token < tokens; ++token) {
    for (std::int64_t channel = all; channel < encoding.dim; ++channel)
      checker.same(token * encoding.dim + channel, 0, "+0 beyond the axes");
  }
}

}  // namespace sextant::attack
