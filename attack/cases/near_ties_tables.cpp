#include <algorithm>
#include <cmath>
#include <numeric>

#include "attack/cases/attacks.hpp"
#include "attack/cases/draw.hpp"
#include "attack/cases/near_ties.hpp"
#include "attack/truth/truths.hpp"

namespace sextant::attack {
namespace {

// A nearby position to begin a range or a list at, so that the one looked for lies anywhere in a block.
std::int64_t some_before(Random& random, std::int64_t position) {
  return position - random.of({std::int64_t{0}, random.between(0, 130), random.between(0, 4)});
}

void both_overloads(Random& random, const Sinusoidal& encoding, Dtype dtype, std::int64_t position,
                    std::vector<Case>& cases) {
  const std::int64_t first = some_before(random, position);
  const std::int64_t count = position - first + random.between(1, 5);
  cases.push_back(range_case(random, encoding, dtype, {first, count, 1}));
  std::vector<std::int64_t> list(static_cast<std::size_t>(count));
  std::iota(list.begin(), list.end(), first);
  if (random.once_in(2)) list = {position};
  cases.push_back(table_case(random, encoding, dtype, list));
}

// A multiple of a power of 2 that makes the scale ordinary, one of the quick certificate's limits, or anything.
int draw_exponent(Random& random) {
  return static_cast<int>(
      random.of({std::int64_t{-53}, -53 + random.between(-16, 16), random.between(-500, 400), std::int64_t{-39}}));
}

Real turns_of(const Interval& radians) { return (radians / (pi(radians.bits()) * exactly(radians.bits(), 2.0))).low; }

// Positions of a code with this scale at which an element of the pair is next to a tie of the dtype.
std::vector<std::int64_t> tie_positions(Random& random, const Frequencies& frequencies, std::int64_t pair, double scale,
                                        Dtype dtype) {
  const ElementFormat format = element_format(dtype);
  // The angle of some value in (-1, 1) times the scale, moved to the tie above its element.
  Real tie(factor_bits, std::fabs(scale) * random.between(0.0, 0.999));
  const Bits element = std::min(rounded(format, tie.get()), format.largest() - 1);
  tie = Real(factor_bits, value_of(format, element));
  mpfr_add_d(tie.get(), tie.get(), value_of(format, element + 1), MPFR_RNDN);
  mpfr_div_2ui(tie.get(), tie.get(), 1, MPFR_RNDN);
  mpfr_div_d(tie.get(), tie.get(), std::fabs(scale), MPFR_RNDN);
  if (mpfr_cmp_d(tie.get(), 1) >= 0) return {};
  random.once_in(2) ? mpfr_asin(tie.get(), tie.get(), MPFR_RNDN) : mpfr_acos(tie.get(), tie.get(), MPFR_RNDN);
  const Real turns = turns_of({tie, tie});
  const auto w = frequencies.radians(pair, factor_bits);
  return w ? positions_near(random, turns_of(*w), turns) : std::vector<std::int64_t>{};
}

}  // namespace

std::vector<Case> near_ties_sinusoidal(Random& random, Dtype dtype) {
  Sinusoidal encoding = draw_sinusoidal(random, Taste::usual, 64);
  encoding.position_offset = 0;
  if (random.once_in(2)) encoding.scale = 1;
  const auto frequencies = frequencies_of(encoding);
  const std::int64_t pair = random.between(0, frequencies->count() - 1);
  std::vector<Case> cases;
  if (random.once_in(2)) {
    for (const std::int64_t position : tie_positions(random, *frequencies, pair, encoding.scale, dtype))
      both_overloads(random, encoding, dtype, position, cases);
    return cases;
  }
  const std::int64_t position = draw_position(random);
  if (position == 0) return {};
  const auto turn = frequencies->turned(pair, position, factor_bits);
  const int exponent = draw_exponent(random);
  for (const std::int64_t multiple : multiples_near_ties(
           random, element_format(dtype), random.once_in(2) ? turn->sine.low : turn->cosine.low, exponent)) {
    encoding.scale = random.sign() * std::ldexp(static_cast<double>(multiple), exponent);
    if (cases.size() < 8) both_overloads(random, encoding, dtype, position, cases);
  }
  return cases;
}

std::vector<Case> near_ties_sinusoidal_2d(Random& random, Dtype dtype) {
  Sinusoidal2d encoding;
  encoding.dim = 2 * draw_width(random, 64);
  encoding.height = encoding.width = furthest;
  encoding.base = draw_base(random, Taste::usual);
  encoding.layout = random.of({Layout::interleaved, Layout::concatenated});
  Sinusoidal half;
  half.dim = encoding.dim / 2;
  half.base = encoding.base;
  const auto frequencies = frequencies_of(half);
  std::vector<std::int64_t> positions =
      tie_positions(random, *frequencies, random.between(0, frequencies->count() - 1), 1, dtype);
  if (positions.size() % 2 != 0) positions.pop_back();
  if (positions.empty()) return {};
  Case example = table_case(random, encoding, dtype, positions);
  return {example};
}

std::vector<Case> near_ties_sinusoidal_nd(Random& random, Dtype dtype) {
  const SinusoidalNd encoding = draw_sinusoidal_nd(random, Taste::usual, 16);
  const auto frequencies = frequencies_of(encoding, random.between(std::int64_t{0}, std::ssize(encoding.extents) - 1));
  const std::int64_t pair = random.between(std::int64_t{0}, frequencies->count() - 1);
  return every_axis_at(random, encoding, dtype, tie_positions(random, *frequencies, pair, 1, dtype));
}

std::vector<Case> near_ties_fourier(Random& random, Dtype dtype) {
  const Fourier encoding = draw_ladder(random);
  const auto frequencies = frequencies_of(encoding);
  const std::int64_t band = random.between(std::int64_t{0}, encoding.bands - 1);
  return every_axis_at(random, encoding, dtype, tie_positions(random, *frequencies, band, 1, dtype));
}

std::vector<Case> near_ties_rope_tables(Random& random, Dtype dtype) {
  Rope rope = draw_plain_rope(random, Taste::usual, 64);
  rope.rotary_layout = RotaryLayout::prefix;
  const auto plain = frequencies_of(rope, 0);
  const std::int64_t pair = random.between(0, plain->count() - 1);
  const std::int64_t position = draw_position(random);
  if (position == 0) return {};
  // longrope with divisors 1 leaves the frequencies as they are and gives the factor.
  LongropeScaling longrope;
  longrope.original_max_position_embeddings = 2;
  longrope.short_factor.assign(static_cast<std::size_t>(rope.rotary_dim / 2), 1.0);
  longrope.long_factor = longrope.short_factor;
  const auto turn = plain->turned(pair, position, factor_bits);
  const int exponent = draw_exponent(random);
  std::vector<Case> cases;
  for (const std::int64_t multiple : multiples_near_ties(
           random, element_format(dtype), random.once_in(2) ? turn->sine.low : turn->cosine.low, exponent)) {
    longrope.attention_factor = std::ldexp(static_cast<double>(multiple), exponent);
    rope.rope_scaling = longrope;
    Case example = table_case(random, rope, dtype, {position});
    example.operation = Operation::tables;
    example.offset -= example.offset % 8;
    cases.push_back(example);
  }
  return cases;
}

std::vector<Case> near_ties_alibi(Random& random, Dtype dtype) {
  Alibi encoding;
  encoding.num_heads = random.of({random.between(1, 24), random.between(1, 129)});
  encoding.mask = random.of({Mask::causal, Mask::symmetric});
  if (encoding.mask == Mask::causal && random.once_in(2)) encoding.form = AlibiForm::key_index;
  if (random.once_in(3)) encoding.slopes = AlibiSlopes::geometric;
  if (random.once_in(3)) encoding.bias_max = random.between(1, 24);
  if (random.once_in(3))
    encoding.slope_dtype = random.of({Dtype::bfloat16, Dtype::float16, Dtype::float32, Dtype::float64});
  const Interval slope = alibi_slope(encoding, random.between(0, encoding.num_heads - 1), factor_bits);
  std::vector<std::int64_t> keys = multiples_near_ties(random, element_format(dtype), slope.low, 0);
  if (random.once_in(2)) std::erase_if(keys, [](std::int64_t key) { return key > furthest / 2; });
  if (keys.empty()) return {};
  Case example = table_case(random, encoding, dtype, {0, furthest});
  example.operation = Operation::bias;
  if (encoding.form == AlibiForm::distance) {
    example.positions = {0};
    for (std::int64_t& key : keys) key = -key;
  } else if (std::ranges::max(keys) <= furthest / 2) {
    example.positions = {furthest / 2};
  }
  example.keys = keys;
  while (example.keys.size() < 11)
    example.keys.push_back(random.of({keys.front(), keys.back(), -draw_position(random, 1 << 20)}));
  return {example};
}

std::vector<Case> near_ties_integer(Random& random, Dtype dtype) {
  Integer encoding;
  encoding.normalize = true;
  encoding.dim = random.between(1, 9);
  const std::int64_t divisor = std::max<std::int64_t>(1, std::abs(draw_position(random)) - 1);
  Interval inverse = exactly(factor_bits, 1.0) / exactly(factor_bits, divisor);
  std::vector<std::int64_t> positions = multiples_near_ties(random, element_format(dtype), inverse.low, 0);
  if (positions.empty()) return {};
  if (random.once_in(2)) positions.push_back(-positions.front());
  Case example = table_case(random, encoding, dtype, positions);
  example.spec.max_position = divisor + 1;
  return {example};
}

}  // namespace sextant::attack
