#include <algorithm>
#include <cmath>

#include "attack/cases/draw.hpp"
#include "attack/numbers/interval.hpp"

// Scaling rules with parameters as models have them, or such as the rules' case distinctions turn on: borders that fall
// on a pair or an integer, and adjacent doubles wherever two parameters are compared or subtracted.

namespace sextant::attack {
namespace {

double next(double value) { return std::nextafter(value, HUGE_VAL); }

double draw_factor(Random& random, Taste taste) {
  if (taste == Taste::usual) return random.of({2.0, 4.0, 8.0, 16.0, 40.0, random.between(1.0, 64.0)});
  // As for bases: frequencies that small take the last tier.
  if (random.once_in(16)) return random.of({random.of_magnitude(1e40, 1e300), 0x1p1000});
  return random.of(
      {1.0, next(1), 1 + 0x1p-30, random.between(1.0, 2.0), random.of_magnitude(1, 1e30), random.of_magnitude(1, 1e6)});
}

std::int64_t draw_length(Random& random, Taste taste) {
  if (taste == Taste::usual) return random.of({2048, 4096, 8192, 32768, 131072});
  return random.of({std::int64_t{2}, std::int64_t{3}, std::int64_t{16}, std::int64_t{1} << random.between(1, 53),
                    furthest, random.between(2, 100000)});
}

double draw_attention_factor(Random& random, Taste taste) {
  if (taste == Taste::usual) return random.of({1.0, 1.5, random.between(0.5, 2.0)});
  return random.of({random.beside(1), random.beside(0x1p-20), random.beside(0x1p20),
                    random.of_magnitude(0x1p-22, 0x1p22), random.of_magnitude(1e-300, 1e300), 0x1p-1074, 1.7e308, 3.0,
                    1.0 / 3});
}

// The largest double below the turns of a pair within L, L theta^(-2i/n) / (2 pi).
double turns_of_pair(const Rope& rope, std::int64_t length, std::int64_t pair) {
  constexpr long bits = 256;
  const std::int64_t width = rope.rotary_layout == RotaryLayout::spread ? rope.head_dim : rope.rotary_dim;
  const Interval w = exp(-(log(exactly(bits, rope.rope_theta)) * exactly(bits, 2 * pair) / exactly(bits, width)));
  return mpfr_get_d((exactly(bits, length) * w / (pi(bits) * exactly(bits, 2.0))).low.get(), MPFR_RNDD);
}

// Two ends of a ramp over turns, the second above the first: with the border at a pair, adjacent or not.
struct Ends {
  double low;
  double high;
};
Ends draw_ends(Random& random, const Rope& rope, std::int64_t length, Taste taste) {
  const std::int64_t pair = random.between(std::int64_t{0}, rope.rotary_dim / 2 - 1);
  if (taste == Taste::usual) return {1, random.of({32.0, 4.0})};
  const double border = std::clamp(turns_of_pair(rope, length, pair), 1e-300, 1e300);
  const double beside = std::clamp(random.beside(border, 2), 1e-300, 1e300);
  const double apart = 1 + std::exp2(-random.between(1.0, 52.0));
  const double any = random.of_magnitude(1e-300, 1e300);
  switch (random.between(0, 7)) {
    case 0:
    case 1:
    case 2:
    case 3: return {border, next(border)};
    case 4: return {beside, next(beside)};
    case 5: return random.once_in(2) ? Ends{border, border * apart} : Ends{border / apart, next(border)};
    case 6: return {any, next(any)};
    default: return {border * random.between(0.1, 1.0), border * random.between(1.5, 40.0)};
  }
}

YarnScaling draw_yarn(Random& random, const Rope& rope, Taste taste) {
  YarnScaling yarn;
  yarn.factor = draw_factor(random, taste);
  yarn.original_max_position_embeddings = draw_length(random, taste);
  const Ends ends = draw_ends(random, rope, yarn.original_max_position_embeddings, taste);
  yarn.beta_slow = ends.low;
  yarn.beta_fast = ends.high > ends.low ? ends.high : next(ends.low);
  yarn.truncate = random.of({Truncate::yes, Truncate::no});
  switch (random.between(0, 3)) {
    case 0: yarn.attention_factor = draw_attention_factor(random, taste); break;
    case 1:
      yarn.mscale = random.of({1.0, 0.707, random.of_magnitude(1e-3, 1e3)});
      yarn.mscale_all_dim = random.of({1.0, *yarn.mscale, next(*yarn.mscale), random.of_magnitude(1e-3, 1e3)});
      break;
    case 2: yarn.attention_factor = 1; break;
    default: break;
  }
  return yarn;
}

LengthScope draw_scope(Random& random) { return random.of({LengthScope::call, LengthScope::row}); }

LongropeScaling draw_longrope(Random& random, const Rope& rope, Taste taste) {
  LongropeScaling longrope;
  longrope.original_max_position_embeddings = std::max<std::int64_t>(draw_length(random, taste), 2);
  for (std::int64_t i = 0; i < rope.rotary_dim / 2; ++i) {
    longrope.short_factor.push_back(taste == Taste::usual
                                        ? random.between(1.0, 2.0)
                                        : random.of({1.0, random.beside(1), random.of_magnitude(1e-6, 1e6)}));
    longrope.long_factor.push_back(taste == Taste::usual ? random.between(1.0, 64.0)
                                                         : random.of({1.0, random.of_magnitude(1e-12, 1e12)}));
  }
  if (taste == Taste::exotic && random.once_in(6)) longrope.long_factor.back() = random.of({1e-300, 1e300, 0x1p-1074});
  if (random.once_in(2)) {
    longrope.attention_factor = draw_attention_factor(random, taste);
  } else if (random.once_in(3)) {
    // sqrt(1 + ln s / ln L) is rational: s = L^3, or L = 2^(4k), s = 2^(5k).
    const std::int64_t k = random.between(1, 12);
    longrope.original_max_position_embeddings =
        random.once_in(2) ? 1 << random.between(1, 12) : std::int64_t{1} << (4 * k);
    const auto length = static_cast<double>(longrope.original_max_position_embeddings);
    longrope.factor = length == std::ldexp(1.0, static_cast<int>(4 * k)) ? std::ldexp(1.0, static_cast<int>(5 * k))
                                                                         : length * length * length;
  } else {
    longrope.factor = draw_factor(random, taste);
  }
  longrope.length_scope = draw_scope(random);
  if (random.once_in(3)) {
    longrope.attention_factor.reset();
    longrope.short_mscale = draw_attention_factor(random, taste);
    longrope.long_mscale = random.once_in(4) ? *longrope.short_mscale : draw_attention_factor(random, taste);
  }
  return longrope;
}

Llama3Scaling draw_llama3(Random& random, const Rope& rope, Taste taste) {
  Llama3Scaling llama;
  llama.factor = draw_factor(random, taste);
  llama.original_max_position_embeddings = draw_length(random, taste);
  const Ends ends = draw_ends(random, rope, llama.original_max_position_embeddings, taste);
  llama.low_freq_factor = ends.low;
  llama.high_freq_factor = ends.high > ends.low ? ends.high : next(ends.low);
  return llama;
}

}  // namespace

Rope draw_sharp_rope(Random& random, std::int64_t most_width) {
  Rope rope = draw_plain_rope(random, Taste::usual, most_width);
  rope.rotary_layout = RotaryLayout::prefix;
  if (random.once_in(2)) {
    YarnScaling yarn = draw_yarn(random, rope, Taste::exotic);
    yarn.factor = draw_factor(random, Taste::usual);
    yarn.truncate = Truncate::no;
    rope.rope_scaling = yarn;
  } else {
    rope.rope_scaling = draw_llama3(random, rope, Taste::exotic);
  }
  return rope;
}

namespace {

// Real positions where the rule does not look at lengths of whole ones.
Rope with_grid(Random& random, Rope rope) {
  if (!length_limit(rope.rope_scaling)) rope.positions = draw_grid(random);
  return rope;
}

}  // namespace

Rope draw_rope(Random& random, Taste taste, std::int64_t most_width) {
  Rope rope = draw_plain_rope(random, taste, most_width);
  if (rope.rotary_layout == RotaryLayout::spread) {
    if (random.once_in(2))
      rope.rope_scaling = ProportionalScaling{taste == Taste::usual ? 8.0 : random.of_magnitude(1e-6, 1e300)};
    return with_grid(random, rope);
  }
  // The rules that divide by n - 2 or by ln theta.
  const bool wide = rope.rotary_dim > 2;
  switch (random.between(0, 9)) {
    case 0: rope.rope_scaling = LinearScaling{draw_factor(random, taste)}; break;
    case 9: rope.rope_scaling = NoTurning{}; break;
    case 1:
      if (wide) rope.rope_scaling = NtkScaling{draw_factor(random, taste)};
      break;
    case 2:
      if (wide)
        rope.rope_scaling = DynamicScaling{draw_factor(random, taste), draw_length(random, taste), draw_scope(random),
                                           random.of({LengthSteps::every, LengthSteps::doublings})};
      break;
    case 3:
    case 4:
      if (rope.rope_theta > 1) rope.rope_scaling = draw_yarn(random, rope, taste);
      break;
    case 5: rope.rope_scaling = draw_longrope(random, rope, taste); break;
    case 6:
    case 7: rope.rope_scaling = draw_llama3(random, rope, taste); break;
    default: break;
  }
  return with_grid(random, rope);
}

void keep_in_domain(const RopeNd& encoding, std::vector<std::int64_t>& positions) {
  if (encoding.extents.empty()) return;
  int bits = 0;
  for (std::int64_t axis = 0; axis < std::ssize(encoding.extents); ++axis)
    bits = std::max(bits, shift_bits(encoding, axis));
  const std::int64_t most = (furthest >> (bits + 1)) - (bits == 0 ? 1 << 20 : 1 << 21);
  for (std::int64_t& position : positions) position = std::clamp(position, -most, most);
}

// Shifts from whole numbers to the finest, and scales of which some keep angles exact parts of a turn.
void draw_moves(Random& random, RopeNd& encoding) {
  const bool shifts = random.once_in(2);
  const bool scales = random.once_in(2);
  for (std::size_t axis = 0; axis < encoding.extents.size(); ++axis) {
    const auto bits = static_cast<int>(random.of({0LL, 1LL, 3LL, 30LL, static_cast<long long>(random.between(0, 30))}));
    const std::int64_t one = std::int64_t{1} << bits;
    if (shifts) encoding.coordinate_shifts.push_back(std::ldexp(static_cast<double>(random.between(-one, one)), -bits));
    const double drawn = std::ldexp(static_cast<double>(random.between(std::int64_t{1} << 52, std::int64_t{1} << 53)),
                                    static_cast<int>(random.between(-58, -48)));
    if (scales) encoding.coordinate_scales.push_back(random.of({drawn, 1.0, 0.5, 0.75, 1.5, 64.0, 0x1p-6}));
  }
}

RopeNd draw_rope_nd(Random& random, Taste taste) {
  RopeNd encoding;
  encoding.rope = draw_rope(random, taste, 256);
  encoding.rope.positions = {};
  if (length_scope(encoding.rope.rope_scaling) != LengthScope::call) encoding.rope.rope_scaling = DefaultScaling{};
  const std::int64_t all = encoding.rope.rotary_dim / 2;
  const std::int64_t axes = random.between(1, std::min<std::int64_t>(4, all));
  encoding.sections.assign(static_cast<std::size_t>(axes), 1);
  for (std::int64_t left = all - axes; left > 0;) {
    const std::int64_t more = random.between(1, left);
    encoding.sections[static_cast<std::size_t>(random.between(0, axes - 1))] += more;
    left -= more;
  }
  // Equal sections are what the interleaved order always has room for.
  const auto make_equal = [&](std::int64_t first) {
    encoding.sections.assign(static_cast<std::size_t>(axes), all / axes);
    encoding.sections[static_cast<std::size_t>(first)] = all - (axes - 1) * (all / axes);
  };
  std::int64_t first = 0;
  if (random.once_in(3)) {
    for (std::int64_t axis = 0; axis < axes; ++axis)
      encoding.axis_order.insert(encoding.axis_order.begin() + random.between(0, axis), axis);
    first = encoding.axis_order.front();
  }
  if (random.once_in(3)) {
    encoding.section_order = SectionOrder::interleaved;
    make_equal(first);
  }
  if (std::holds_alternative<DefaultScaling>(encoding.rope.rope_scaling) && random.once_in(3)) {
    encoding.coordinates = Coordinates::normalized;
    const std::int64_t most = random.once_in(3) ? 1 << 20 : 60;
    for (std::int64_t axis = 0; axis < axes; ++axis) encoding.extents.push_back(random.between(1, most));
    draw_moves(random, encoding);
  }
  // Gemma 4's towers.
  if (encoding.section_order == SectionOrder::blocked && encoding.rope.rotary_dim == encoding.rope.head_dim &&
      all % axes == 0 && random.once_in(3)) {
    encoding.rope.pairing = encoding.rope.output_pairing = Pairing::half;
    encoding.rope.parts = axes;
    make_equal(first);
  }
  if (encoding.rope.rotary_layout == RotaryLayout::spread || random.once_in(2)) return encoding;
  if (encoding.section_order == SectionOrder::blocked && all % axes == 0 && random.once_in(2)) {
    encoding.frequencies = AxisFrequencies::dealt;
    make_equal(first);
    return encoding;
  }
  // Rules of which an axis of one pair has none, or as many numbers as a head has pairs.
  if (axes > 1) {
    const bool narrow = *std::ranges::min_element(encoding.sections) == 1;
    const RopeScaling& rule = encoding.rope.rope_scaling;
    if (std::holds_alternative<LongropeScaling>(rule) ||
        (narrow && (std::holds_alternative<NtkScaling>(rule) || std::holds_alternative<DynamicScaling>(rule))))
      encoding.rope.rope_scaling = DefaultScaling{};
  }
  encoding.frequencies = AxisFrequencies::per_axis;
  const bool plain = std::holds_alternative<DefaultScaling>(encoding.rope.rope_scaling);
  if (plain && random.once_in(2)) {
    for (std::int64_t axis = 0; axis < axes; ++axis) encoding.rope_thetas.push_back(draw_base(random, taste));
  }
  return encoding;
}

}  // namespace sextant::attack
