// Over 400 lines, since rope, rope_nd and xpos share one judge of a turned pair.
#include <cmath>
#include <functional>
#include <numeric>

#include "attack/truth/truths.hpp"

// Su et al. 2021, equation 34: (x0, x1) -> (x0 cos - x1 sin, x1 cos + x0 sin) for each pair, in the channels that the
// spec's pairing gives it. Several axes (Wang et al. 2024): each pair turns by its own axis's coordinate. xPos (Sun et
// al. 2022, algorithm 1): times zeta_i^((p - centre) / scale_base) in a query, the inverse in a key, zeta_i = (2i/n +
// 0.4) / 1.4.

namespace sextant::attack {
namespace {

// What an encoder's header says of pairs that arithmetic cannot turn.
enum class Specials { as_rope_says, not_said };

/// One pair of frequencies at one position: rotates any number of pairs of elements.
struct Turning {
  const Frequencies* frequencies;
  std::int64_t pair;
  std::int64_t position;  // of the sign that the direction and the pass give it
  std::function<Interval(const Interval&)> scaled;
  long double scale;  // the same in long double, within 2^-62 of itself; NaN where it cannot be told
  Specials specials;
  bool may_be_part_of_turn = false;
};

// Of an angle that is a whole number of 24ths of a turn, to 4000 bits: that number, 0 to 23.
std::optional<int> part_of_turn(const Turning& turning) {
  if (!turning.may_be_part_of_turn || turning.position == 0) return std::nullopt;
  std::optional<int> part;
  for (const long bits : {first_precision, 4200L}) {
    const auto w = turning.frequencies->radians(turning.pair, bits);
    if (!w) return std::nullopt;
    const Interval count = *w * exactly(bits, 12 * turning.position) / pi(bits);
    const Interval whole = exactly(bits, static_cast<std::int64_t>(mpfr_get_si(count.low.get(), MPFR_RNDN)));
    if (mpfr_cmp(count.low.get(), whole.low.get()) > 0 || mpfr_cmp(count.high.get(), whole.low.get()) < 0)
      return std::nullopt;
    const auto rest = static_cast<int>(mpfr_get_si(whole.low.get(), MPFR_RNDN) % 24);
    part = rest < 0 ? rest + 24 : rest;
  }
  return part;
}

// A sine of so many 24ths where it is 0, 1/2 or 1, with its sign.
std::optional<double> simple_sine(int part) {
  if (part >= 12) {
    const auto opposite = simple_sine(part - 12);
    return opposite ? std::optional(-*opposite) : std::nullopt;
  }
  switch (part) {
    case 0: return 0;
    case 2:
    case 10: return 0.5;
    case 6: return 1;
    default: return std::nullopt;
  }
}

// own cos + sign other sin where that is exact at such a part of a turn.
std::optional<Real> exact_sum(int part, double own, double signed_other) {
  const auto sine = simple_sine(part);
  const auto cosine = simple_sine((part + 6) % 24);
  Real sum(2200);
  if (sine && cosine) {
    Real other(2200, signed_other);
    mpfr_mul_d(other.get(), other.get(), *sine, MPFR_RNDN);
    mpfr_set_d(sum.get(), own, MPFR_RNDN);
    mpfr_mul_d(sum.get(), sum.get(), *cosine, MPFR_RNDN);
    mpfr_add(sum.get(), sum.get(), other.get(), MPFR_RNDN);
    return sum;
  }
  if (part % 6 == 3) {
    const double of_own = part == 9 || part == 15 ? -own : own;
    const double of_other = part > 12 ? -signed_other : signed_other;
    if (of_own + of_other != 0) return std::nullopt;
    mpfr_set_zero(sum.get(), 1);
    return sum;
  }
  const bool by_cosine = cosine && signed_other == 0;
  if (!by_cosine && !(sine && own == 0)) return std::nullopt;
  mpfr_set_d(sum.get(), by_cosine ? own : signed_other, MPFR_RNDN);
  mpfr_mul_d(sum.get(), sum.get(), by_cosine ? *cosine : *sine, MPFR_RNDN);
  return sum;
}

std::optional<QuickTurn> quick_turn(const Turning& turning) {
  if (!std::isnormal(turning.scale)) return std::nullopt;
  return turning.frequencies->quickly_turned(turning.pair, turning.position);
}

// An infinity among the two, as IEEE 754 arithmetic has the formula with the signs of the true sine and cosine.
void judge_infinite(const Turning& turning, double x0, double x1, std::int64_t first, std::int64_t second,
                    Checker& checker) {
  double s = 0;
  double c = 1;
  const auto part = part_of_turn(turning);
  if (part && *part % 6 == 0) {
    s = *simple_sine(*part);
    c = *simple_sine((*part + 6) % 24);
  } else if (turning.position != 0) {
    const ElementFormat sign = element_format(Dtype::float64);
    const auto sign_of = [&](Interval SineAndCosine::*which) {
      const Bits nearest = attack::nearest(sign, [&](long bits) -> std::optional<Interval> {
        const auto turn = turning.frequencies->turned(turning.pair, turning.position, bits);
        return turn ? std::optional((*turn).*which) : std::nullopt;
      });
      return is_negative(sign, nearest) ? -1.0 : 1.0;
    };
    s = sign_of(&SineAndCosine::sine);
    c = sign_of(&SineAndCosine::cosine);
  }
  const auto element = [&](double value) {
    return std::isnan(value) ? checker.format().quiet_nan() : bits_of(checker.format(), value);
  };
  checker.same(first, element(x0 * c - x1 * s), "IEEE 754's value of the formula");
  checker.same(second, element(x0 * s + x1 * c), "IEEE 754's value of the formula");
}

void judge_pair(const Turning& turning, const std::optional<QuickTurn>& turn, Bits bits0, Bits bits1,
                std::int64_t first, std::int64_t second, Checker& checker) {
  const ElementFormat& format = checker.format();
  const bool strict = turning.specials == Specials::as_rope_says;
  if (is_nan(format, bits0) || is_nan(format, bits1)) {
    if (!strict) return;
    checker.same(first, format.quiet_nan(), "NaN");
    checker.same(second, format.quiet_nan(), "NaN");
    return;
  }
  const double x0 = value_of(format, bits0);
  const double x1 = value_of(format, bits1);
  if (std::isinf(x0) || std::isinf(x1)) {
    if (strict) judge_infinite(turning, x0, x1, first, second, checker);
    return;
  }
  const bool stands = turning.position == 0;
  const auto part = part_of_turn(turning);
  const auto one = [&](std::int64_t element, double own, double other, double sign) {
    if (const auto sum = part ? exact_sum(*part, own, sign * other) : std::nullopt) {
      const Bits wanted = mpfr_zero_p(sum->get()) != 0 ? 0 : rounded(format, sum->get());
      return checker.same(element, wanted, "exact at a part of a turn");
    }
    if (own == 0 && (other == 0 || stands)) {
      strict ? checker.same(element, 0, "a real zero is +0") : checker.zero(element);
      return;
    }
    std::optional<Quick> quick;
    if (!stands && turn) {
      const long double a = static_cast<long double>(own) * turn->cosine * turning.scale;
      const long double b = sign * static_cast<long double>(other) * turn->sine * turning.scale;
      // Each term within quick_error of itself, three roundings and those of the scale; the sum rounds once more.
      quick = Quick{a + b, 2 * quick_error * (std::abs(a) + std::abs(b))};
    }
    checker.nearest(element, quick, [&](long bits) -> std::optional<Interval> {
      if (stands) return turning.scaled(exactly(bits, own));
      const auto precise = turning.frequencies->turned(turning.pair, turning.position, bits);
      if (!precise) return std::nullopt;
      return turning.scaled(exactly(bits, own) * precise->cosine + exactly(bits, sign * other) * precise->sine);
    });
  };
  one(first, x0, x1, -1);
  one(second, x1, x0, 1);
}

/// Where the elements of a call lie, and which way it turns.
struct Call {
  const Rope& rope;
  const Case& example;
  Pairing from;
  Pairing to;
  std::int64_t sign;

  Call(const Rope& encoding, const Case& of) : rope(encoding), example(of) {
    const bool backward = of.operation == Operation::backward;
    from = backward ? rope.output_pairing : rope.pairing;
    to = backward ? rope.pairing : rope.output_pairing;
    sign = (rope.direction == Direction::clockwise) == backward ? 1 : -1;
  }

  // Each head of a token: judge(index of the head's first element).
  template <class Judge>
  void each_head(std::int64_t token, Judge judge) const {
    for (std::int64_t head = 0; head < example.heads; ++head) judge((token * example.heads + head) * rope.head_dim);
  }
  Bits x(std::int64_t element) const { return example.elements[static_cast<std::size_t>(element)]; }

  void judge_copied(std::int64_t head, ChannelsOfPair in, ChannelsOfPair out, Checker& checker) const {
    checker.same(head + out.first, x(head + in.first), "copied bit for bit");
    checker.same(head + out.second, x(head + in.second), "copied bit for bit");
  }

  void judge_unturned(std::int64_t head, Checker& checker) const {
    if (rope.rotary_layout == RotaryLayout::prefix) {
      for (std::int64_t i = rope.rotary_dim; i < rope.head_dim; ++i)
        checker.same(head + i, x(head + i), "copied bit for bit");
      return;
    }
    if (rope.rotary_layout == RotaryLayout::suffix) {
      for (std::int64_t i = 0; i < rope.head_dim - rope.rotary_dim; ++i)
        checker.same(head + i, x(head + i), "copied bit for bit");
      return;
    }
    for (std::int64_t pair = rope.rotary_dim / 2; pair < rope.head_dim / 2; ++pair) {
      judge_copied(head, rotary_channels(rope, from, pair), rotary_channels(rope, to, pair), checker);
    }
  }

  // All pairs of a token, which stand still.
  void judge_standing(std::int64_t token, Checker& checker) const {
    each_head(token, [&](std::int64_t head) {
      for (std::int64_t pair = 0; pair < rope.rotary_dim / 2; ++pair)
        judge_copied(head, rotary_channels(rope, from, pair), rotary_channels(rope, to, pair), checker);
      judge_unturned(head, checker);
    });
  }

  // The `place`-th pair of the head.
  void judge_turned(const Turning& turning, std::int64_t place, std::int64_t token, Checker& checker) const {
    const auto turn = turning.position == 0 ? std::nullopt : quick_turn(turning);
    const ChannelsOfPair in = rotary_channels(rope, from, place);
    const ChannelsOfPair out = rotary_channels(rope, to, place);
    each_head(token, [&](std::int64_t head) {
      judge_pair(turning, turn, x(head + in.first), x(head + in.second), head + out.first, head + out.second, checker);
    });
  }
};

// A scale as long double, or NaN where long double cannot hold it.
long double in_long_double(const Interval& scale) {
  const long double value = mpfr_get_ld(scale.low.get(), MPFR_RNDN);
  const bool known =
      mpfr_regular_p(scale.low.get()) != 0 && mpfr_regular_p(scale.high.get()) != 0 && std::isnormal(value);
  return known ? value : std::nanl("");
}

void judge_tables(const Rope& encoding, const Frequencies& frequencies, const AttentionFactor& factor,
                  const Case& example, Checker& checker) {
  const long double scale = in_long_double(factor.times(exactly(first_precision, 1.0)));
  const std::int64_t count = encoding.rotary_dim / 2;
  const std::int64_t of_sines = std::ssize(example.positions) * count;
  for (std::int64_t row = 0; row < std::ssize(example.positions); ++row) {
    const std::int64_t position = example.positions[static_cast<std::size_t>(row)];
    for (std::int64_t pair = 0; pair < count; ++pair) {
      const std::int64_t element = row * count + pair;
      if (position == 0) {
        checker.nearest(element, std::nullopt, [&](long bits) { return factor.times(exactly(bits, 1.0)); });
        checker.same(of_sines + element, 0, "a real zero is +0");
        continue;
      }
      const auto turn = std::isnormal(scale) ? frequencies.quickly_turned(pair, position) : std::nullopt;
      const auto quick = [&](long double QuickTurn::*which) -> std::optional<Quick> {
        if (!turn) return std::nullopt;
        const long double value = (*turn).*which * scale;
        return Quick{value, 2 * quick_error * std::abs(value)};
      };
      const auto exact = [&](Interval SineAndCosine::*which) {
        return [&, which](long bits) -> std::optional<Interval> {
          const auto precise = frequencies.turned(pair, position, bits);
          return precise ? std::optional(factor.times((*precise).*which)) : std::nullopt;
        };
      };
      checker.nearest(element, quick(&QuickTurn::cosine), exact(&SineAndCosine::cosine));
      checker.nearest(of_sines + element, quick(&QuickTurn::sine), exact(&SineAndCosine::sine));
    }
  }
}

}  // namespace

void judge_encoding(const Rope& encoding, const Case& example, Checker& checker) {
  if (example.operation == Operation::tables) {
    const std::int64_t length = length_of_row(encoding, example, 0);
    return judge_tables(encoding, *frequencies_of(encoding, length), AttentionFactor(encoding, length), example,
                        checker);
  }
  const Call call(encoding, example);
  AttentionFactor factor(encoding, 0);
  long double scale = 1;
  std::shared_ptr<const Frequencies> frequencies;
  for (std::int64_t token = 0; token < std::ssize(example.positions); ++token) {
    if (stands_still(encoding)) {
      call.judge_standing(token, checker);
      continue;
    }
    if (token % example.tokens == 0) {
      const std::int64_t length = length_of_row(encoding, example, token / example.tokens);
      frequencies = frequencies_of(encoding, length);
      factor = AttentionFactor(encoding, length);
      scale = in_long_double(factor.times(exactly(first_precision, 1.0)));
    }
    const std::int64_t position = call.sign * example.positions[static_cast<std::size_t>(token)];
    for (std::int64_t pair = 0; pair < encoding.rotary_dim / 2; ++pair) {
      call.judge_turned({frequencies.get(), pair, position, [&](const Interval& value) { return factor.times(value); },
                         scale, Specials::as_rope_says},
                        pair, token, checker);
    }
    call.each_head(token, [&](std::int64_t head) { call.judge_unturned(head, checker); });
  }
}

// So many to a patch's extent of 1, each shift being a whole number of them.
std::int64_t steps_of_shift(const RopeNd& encoding, std::size_t axis) {
  std::int64_t steps = 1;
  if (encoding.coordinate_shifts.empty()) return steps;
  for (double rest = std::fabs(encoding.coordinate_shifts[axis]); rest != std::floor(rest); rest *= 2) steps *= 2;
  return steps;
}

// Qwen2-VL's blocks, or Qwen3-VL's order: axes by turns as long as they have pairs, the first for all the rest.
std::vector<AxialPair> axial_pairs(const RopeNd& encoding, std::int64_t length) {
  const std::int64_t axes = std::ssize(encoding.sections);
  const auto axis_at = [&](std::int64_t place) {
    return encoding.axis_order.empty() ? place : encoding.axis_order[static_cast<std::size_t>(place)];
  };
  std::vector<std::shared_ptr<const Frequencies>> of_axes;
  for (std::size_t axis = 0; axis < encoding.sections.size(); ++axis) {
    Rope of_axis = encoding.rope;
    if (encoding.frequencies == AxisFrequencies::per_axis) {
      of_axis.head_dim = of_axis.rotary_dim = 2 * encoding.sections[axis];
      if (!encoding.rope_thetas.empty()) of_axis.rope_theta = encoding.rope_thetas[axis];
    }
    const auto unscaled = frequencies_of(of_axis, length);
    if (encoding.extents.empty()) {
      of_axes.push_back(unscaled);
      continue;
    }
    const std::int64_t extent = encoding.extents[axis] * steps_of_shift(encoding, axis);
    const double scale = encoding.coordinate_scales.empty() ? 1 : encoding.coordinate_scales[axis];
    Spec named;
    named.encoding = encoding;
    of_axes.push_back(kept_frequencies(to_json(named) + std::to_string(axis), [&] {
      return Frequencies(
          unscaled->count(), [unscaled, extent, scale](std::int64_t pair, long bits) -> std::optional<Interval> {
            const auto w = unscaled->radians(pair, bits);
            if (!w) return std::nullopt;
            return *w * exactly(bits, std::int64_t{2}) * pi(bits) * exactly(bits, scale) / exactly(bits, extent);
          });
    }));
  }
  std::vector<AxialPair> list;
  std::vector<std::int64_t> had(static_cast<std::size_t>(axes), 0);  // pairs that an axis has so far
  for (std::int64_t pair = 0; pair < encoding.rope.rotary_dim / 2; ++pair) {
    const auto is_full = [&](std::int64_t axis) {
      return had[static_cast<std::size_t>(axis)] == encoding.sections[static_cast<std::size_t>(axis)];
    };
    std::int64_t place = 0;
    if (encoding.section_order == SectionOrder::blocked) {
      while (is_full(axis_at(place))) ++place;
    } else if (!is_full(axis_at(pair % axes))) {
      place = pair % axes;
    }
    const std::int64_t axis = axis_at(place);
    const std::int64_t k = had[static_cast<std::size_t>(axis)]++;
    std::int64_t index = pair;
    if (encoding.frequencies == AxisFrequencies::per_axis) index = k;
    if (encoding.frequencies == AxisFrequencies::dealt) index = place + k * axes;
    list.push_back({axis, of_axes[static_cast<std::size_t>(axis)], index});
  }
  return list;
}

std::int64_t axial_position(const RopeNd& encoding, std::int64_t axis, std::int64_t coordinate) {
  if (encoding.extents.empty()) return coordinate;
  const auto a = static_cast<std::size_t>(axis);
  const std::int64_t doubled = 2 * coordinate + 1 - encoding.extents[a];
  if (encoding.coordinate_shifts.empty()) return doubled;
  const std::int64_t steps = steps_of_shift(encoding, a);
  const auto moved = static_cast<std::int64_t>(encoding.coordinate_shifts[a] * static_cast<double>(steps));
  return steps * doubled + moved * encoding.extents[a];
}

std::int64_t length_of_call(const Case& example) {
  std::int64_t length = 0;
  for (std::size_t i = 0; i < example.positions.size(); ++i)
    length = i == 0 ? example.positions[i] + 1 : std::max(length, example.positions[i] + 1);
  return length;
}

void judge_encoding(const RotaryTable& encoding, const Case& example, Checker& checker) {
  judge_encoding(encoding.rope, example, checker);
}

void judge_encoding(const RopeNd& encoding, const Case& example, Checker& checker) {
  const std::int64_t tokens = example.batch * example.tokens;
  const Call call(encoding.rope, example);
  if (stands_still(encoding.rope)) {
    for (std::int64_t token = 0; token < tokens; ++token) call.judge_standing(token, checker);
    return;
  }
  const AttentionFactor factor(encoding.rope, length_of_call(example));
  const long double scale = in_long_double(factor.times(exactly(first_precision, 1.0)));
  const std::vector<AxialPair> list = axial_pairs(encoding, length_of_call(example));
  for (std::int64_t token = 0; token < tokens; ++token) {
    for (std::size_t pair = 0; pair < list.size(); ++pair) {
      const auto& [axis, frequencies, index] = list[pair];
      const std::int64_t position =
          axial_position(encoding, axis, example.positions[static_cast<std::size_t>(axis * tokens + token)]);
      call.judge_turned(
          {frequencies.get(), index, call.sign * position, [&](const Interval& value) { return factor.times(value); },
           scale, Specials::as_rope_says, !encoding.extents.empty()},
          static_cast<std::int64_t>(pair), token, checker);
    }
    call.each_head(token, [&](std::int64_t head) { call.judge_unturned(head, checker); });
  }
}

std::int64_t xpos_count(const Xpos& encoding, std::int64_t position, std::int64_t length) {
  if (const auto* centre = std::get_if<std::int64_t>(&encoding.centre)) return position - *centre;
  // Exactly, of lengths up to 2^53 + 1.
  const long double half = static_cast<long double>(length) / 2;
  const bool up = std::get<HalfOfCall>(encoding.centre) == HalfOfCall::ceil;
  return position - static_cast<std::int64_t>(up ? std::ceil(half) : std::floor(half));
}

// zeta_i = (2i/n + 2/5) / (7/5) = (10 i + 2 n) / (7 n). Where count / scale_base is j / 2^k for small numbers it is the
// root of that degree of a power of integers, of which MPFR finds the exact ones.
Interval xpos_power(const Xpos& encoding, std::int64_t pair, std::int64_t count, long bits) {
  const std::int64_t n = frequency_width(encoding.rope);
  const std::int64_t common = std::gcd(10 * pair + 2 * n, 7 * n);
  const Interval numerator = exactly(bits, (10 * pair + 2 * n) / common);
  const Interval denominator = exactly(bits, 7 * n / common);
  const double size = std::fabs(static_cast<double>(count));
  for (int k = 0; k <= 4; ++k) {
    const double j = std::ldexp(size, k) / encoding.scale_base;
    if (!(j <= 64) || std::fmod(std::ldexp(size, k), encoding.scale_base) != 0) continue;
    const auto raised = [&](const Interval& number) {
      Interval power = exactly(bits, 1.0);
      for (std::int64_t i = 0; i < std::llround(j); ++i) power = power * number;
      for (int root = 0; root < k; ++root) power = sqrt(power);
      return power;
    };
    const bool shrinks = (count > 0) == (encoding.role == Role::query);
    return shrinks ? raised(numerator) / raised(denominator) : raised(denominator) / raised(numerator);
  }
  const Interval exponent = (log(numerator) - log(denominator)) *
                            exactly(bits, encoding.role == Role::query ? count : -count) /
                            exactly(bits, encoding.scale_base);
  return exp(exponent);
}

void judge_encoding(const Xpos& encoding, const Case& example, Checker& checker) {
  const Rope& rope = encoding.rope;
  const auto frequencies = frequencies_of(rope, 0);
  const Call call(rope, example);
  for (std::int64_t token = 0; token < std::ssize(example.positions); ++token) {
    const std::int64_t position = example.positions[static_cast<std::size_t>(token)];
    const std::int64_t count = xpos_count(encoding, position, length_of_call(example));
    call.each_head(token, [&](std::int64_t head) { call.judge_unturned(head, checker); });
    for (std::int64_t pair = 0; pair < rope.rotary_dim / 2; ++pair) {
      if (position == 0 && count == 0) {
        call.each_head(token, [&](std::int64_t head) {
          call.judge_copied(head, rotary_channels(rope, call.from, pair), rotary_channels(rope, call.to, pair),
                            checker);
        });
        continue;
      }
      const auto scaled = [&](const Interval& value) {
        return value * xpos_power(encoding, pair, count, value.bits());
      };
      const long double scale = in_long_double(xpos_power(encoding, pair, count, first_precision));
      call.judge_turned({frequencies.get(), pair, call.sign * position, scaled, scale, Specials::not_said}, pair, token,
                        checker);
    }
  }
}

}  // namespace sextant::attack
