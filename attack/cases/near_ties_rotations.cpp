#include <algorithm>

#include "attack/cases/attacks.hpp"
#include "attack/cases/draw.hpp"
#include "attack/cases/near_ties.hpp"
#include "attack/truth/truths.hpp"

namespace sextant::attack {
namespace {

Real middle(const Interval& a) {
  Real result(a.bits());
  mpfr_add(result.get(), a.low.get(), a.high.get(), MPFR_RNDN);
  mpfr_div_2ui(result.get(), result.get(), 1, MPFR_RNDN);
  return result;
}

// The pair whose frequency is known worst at a given precision: its formula divides by what is small, subtracts what is
// near, or is at a border.
std::int64_t sharpest_pair(const Frequencies& frequencies) {
  std::int64_t sharpest = 0;
  Real widest(first_precision);
  for (std::int64_t pair = 0; pair < frequencies.count(); ++pair) {
    const auto w = frequencies.radians(pair, first_precision);
    if (!w) return pair;
    const Interval relative = *w / *w;  // NOLINT(misc-redundant-expression): 1, as wide as w is for its size
    if (const Real width = width_of(relative); mpfr_greater_p(width.get(), widest.get()) != 0) {
      widest = width;
      sharpest = pair;
    }
  }
  return sharpest;
}

struct PlacedPair {
  std::int64_t token;
  std::int64_t pair;      // in the head
  std::int64_t index;     // of its frequency
  std::int64_t position;  // of the sign that it turns by
};

// Puts near ties of the pair into the token's heads. `scaled` multiplies by the factor that the encoding has at the
// pair.
template <class Scaled>
void put_near_ties(Random& random, const Rope& rope, const Frequencies& frequencies, const PlacedPair& at,
                   Scaled scaled, Case& example) {
  const auto turn = frequencies.turned(at.index, at.position, factor_bits);
  if (!turn) return;
  const Real c = middle(scaled(turn->cosine));
  const Real s = middle(scaled(turn->sine));
  const Real minus_s = middle(scaled(-turn->sine));
  if (mpfr_regular_p(c.get()) == 0 || mpfr_regular_p(s.get()) == 0) return;
  const ElementFormat format = element_format(example.spec.dtype);
  const auto pairs = random.once_in(2) ? near_ties(random, format, c, minus_s) : near_ties(random, format, s, c);
  const Pairing in = example.operation == Operation::backward ? rope.output_pairing : rope.pairing;
  const ChannelsOfPair channels = rotary_channels(rope, in, at.pair);
  for (std::size_t i = 0; i < pairs.size() && static_cast<std::int64_t>(i) < example.heads; ++i) {
    const std::int64_t head = (at.token * example.heads + static_cast<std::int64_t>(i)) * rope.head_dim;
    example.elements[static_cast<std::size_t>(head + channels.first)] = pairs[i].x0;
    example.elements[static_cast<std::size_t>(head + channels.second)] = pairs[i].x1;
  }
}

std::int64_t sign_of_call(const Rope& rope, const Case& example) {
  return (rope.direction == Direction::clockwise) == (example.operation == Operation::backward) ? 1 : -1;
}

std::vector<std::int64_t> some_positions(Random& random) {
  std::vector<std::int64_t> positions;
  const std::int64_t count = random.between(2, 6);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t far = random.sign() > 0 ? furthest - random.between(0, 3) : random.between(0, 3) - furthest;
    positions.push_back(random.once_in(4) ? draw_position(random) : far);
  }
  return positions;
}

// Ordinary elements of the size that near ties most often have.
void fill(Random& random, std::int64_t head_dim, Case& example) {
  example.elements.resize(static_cast<std::size_t>(elements_of_rotation(example, head_dim)));
  for (Bits& bits : example.elements) bits = draw_element(random, element_format(example.spec.dtype), Kind::normal);
}

}  // namespace

std::vector<Case> near_ties_rope(Random& random, Dtype dtype) {
  const Rope rope = random.once_in(3) ? draw_rope(random, random.once_in(8) ? Taste::exotic : Taste::usual, 32)
                                      : draw_sharp_rope(random, 16);
  Case example = rotation_case(random, rope, dtype, some_positions(random), random.between(4, 8));
  fill(random, rope.head_dim, example);
  AttentionFactor factor(rope, 0);
  std::shared_ptr<const Frequencies> frequencies;
  std::int64_t sharpest = 0;
  for (std::int64_t token = 0; token < std::ssize(example.positions); ++token) {
    if (token % example.tokens == 0) {
      const std::int64_t length = length_of_row(rope, example, token / example.tokens);
      frequencies = frequencies_of(rope, length);
      factor = AttentionFactor(rope, length);
      sharpest = sharpest_pair(*frequencies);
    }
    const std::int64_t position = sign_of_call(rope, example) * example.positions[static_cast<std::size_t>(token)];
    if (position == 0) continue;
    std::vector<std::int64_t> pairs{sharpest};
    if (random.once_in(2)) pairs.push_back(random.between(0, frequencies->count() - 1));
    for (const std::int64_t pair : pairs) {
      put_near_ties(
          random, rope, *frequencies, {token, pair, pair, position},
          [&](const Interval& value) { return factor.times(value); }, example);
    }
  }
  return {example};
}

std::vector<Case> near_ties_rope_nd(Random& random, Dtype dtype) {
  const RopeNd encoding = draw_rope_nd(random, random.of({Taste::usual, Taste::exotic}));
  // All axes alike, so that every pair's position is known.
  std::vector<std::int64_t> positions = some_positions(random);
  keep_in_domain(encoding, positions);
  Case example = rotation_case(random, encoding, dtype, positions, random.between(2, 8));
  for (std::size_t axis = 1; axis < encoding.sections.size(); ++axis)
    example.positions.insert(example.positions.end(), positions.begin(), positions.end());
  fill(random, encoding.rope.head_dim, example);
  const AttentionFactor factor(encoding.rope, length_of_call(example));
  const std::vector<AxialPair> pairs = axial_pairs(encoding, length_of_call(example));
  for (std::int64_t token = 0; token < std::ssize(positions); ++token) {
    const std::int64_t pair = random.between(0, std::ssize(pairs) - 1);
    const auto& [axis, frequencies, index] = pairs[static_cast<std::size_t>(pair)];
    const std::int64_t position = sign_of_call(encoding.rope, example) *
                                  axial_position(encoding, axis, positions[static_cast<std::size_t>(token)]);
    if (position == 0) continue;
    put_near_ties(
        random, encoding.rope, *frequencies, {token, pair, index, position},
        [&](const Interval& value) { return factor.times(value); }, example);
  }
  return {example};
}

std::vector<Case> near_ties_xpos(Random& random, Dtype dtype) {
  const Xpos encoding = draw_xpos(random, random.of({Taste::usual, Taste::exotic}));
  Case example = rotation_case(random, encoding, dtype, some_positions(random), random.between(2, 8));
  // The factors of far positions leave every range.
  if (random.once_in(2)) {
    for (std::int64_t& position : example.positions) position = random.between(-4096, 4096);
  }
  fill(random, encoding.rope.head_dim, example);
  const auto frequencies = frequencies_of(encoding.rope, 0);
  for (std::int64_t token = 0; token < std::ssize(example.positions); ++token) {
    const std::int64_t position = example.positions[static_cast<std::size_t>(token)];
    if (position == 0) continue;
    const std::int64_t pair = random.between(0, frequencies->count() - 1);
    const std::int64_t count = xpos_count(encoding, position, length_of_call(example));
    const Interval power = xpos_power(encoding, pair, count, factor_bits);
    put_near_ties(
        random, encoding.rope, *frequencies, {token, pair, pair, sign_of_call(encoding.rope, example) * position},
        [&](const Interval& value) { return value * power; }, example);
  }
  return {example};
}

}  // namespace sextant::attack
