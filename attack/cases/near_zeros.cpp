#include <algorithm>
#include <cmath>

#include "attack/cases/attacks.hpp"
#include "attack/cases/draw.hpp"
#include "attack/cases/guards.hpp"
#include "attack/cases/near_ties.hpp"
#include "attack/numbers/lattice.hpp"
#include "attack/truth/truths.hpp"

// sin(w p) = 0 where w p / pi is whole, cos where it is half of an odd number: so w p is to lie next to a multiple of
// pi/2. Either the base is given and p is the denominator of a convergent of 2 w / pi; or p is given, and the base is
// the double next to the one that makes w p a multiple.

namespace sextant::attack {
namespace {

std::vector<std::int64_t> positions_near_zeros(const Frequencies& frequencies, std::int64_t pair) {
  const auto w = frequencies.radians(pair, factor_bits);
  if (!w) return {};
  const Interval quarters = *w * exactly(factor_bits, 2.0) / pi(factor_bits);
  std::vector<std::int64_t> positions;
  for (const Convergent& convergent : convergents(quarters.low, furthest)) {
    if (convergent.numerator > 0) positions.push_back(convergent.denominator);
  }
  return positions;
}

// theta with theta^(-numerator/denominator) position = quarters pi/2, or 0 where none is at least 1.
double base_of_zero(std::int64_t quarters, std::int64_t position, std::int64_t numerator, std::int64_t denominator) {
  constexpr long bits = 256;
  const Interval w = exactly(bits, quarters) * pi(bits) / exactly(bits, 2 * position);
  const double base = exp(-(log(w) * exactly(bits, denominator) / exactly(bits, numerator))).low.nearest();
  return base >= 1 && std::isfinite(base) ? base : 0;
}

struct Zero {
  double base;
  std::int64_t position;
};
Zero draw_zero(Random& random, std::int64_t numerator, std::int64_t denominator) {
  const std::int64_t position =
      random.once_in(3) ? random.between(2, 127) : static_cast<std::int64_t>(random.of_magnitude(2, 1e6));
  const std::int64_t most = std::min<std::int64_t>(position, 40);
  const double base = base_of_zero(random.between(std::int64_t{1}, std::max<std::int64_t>(most / 2, 1)), position,
                                   numerator, denominator);
  // A base beyond what models have makes frequencies whose sines take the last tier: seldom.
  return {base > 1e9 && !random.once_in(16) ? 0 : base, position};
}

void shuffle_in(Random& random, std::int64_t position, Dtype dtype, const Sinusoidal& encoding,
                std::vector<Case>& cases) {
  // A scale beyond the limits takes every element to the last tier.
  const bool moderate = std::fabs(encoding.scale) >= 0x1p-30 && std::fabs(encoding.scale) <= 0x1p30;
  const std::int64_t first = position - std::min(position, random.between(0, moderate ? 130 : 3));
  const std::int64_t count = position - first + random.between(1, moderate ? 70 : 3);
  cases.push_back(range_case(random, encoding, dtype, {first, count, 1}));
  std::vector<std::int64_t> list{position, -position, position + 1};
  for (std::int64_t p = first; p < first + count && random.once_in(2); ++p) list.push_back(p);
  for (std::int64_t& p : list) p -= encoding.position_offset;
  cases.push_back(table_case(random, encoding, dtype, list));
}

void put_positions(Random& random, std::vector<std::int64_t>& positions) {
  while (positions.size() > 6)
    positions.erase(positions.begin() +
                    static_cast<std::ptrdiff_t>(random.between(std::int64_t{0}, std::ssize(positions) - 1)));
  for (std::int64_t& position : positions) position *= random.once_in(3) ? -1 : 1;
}

// Elements that show a sine or cosine alone, or both: zeros, powers of two, ordinary numbers.
void fill_for_zeros(Random& random, std::int64_t head_dim, Case& example) {
  const ElementFormat format = element_format(example.spec.dtype);
  example.elements.resize(static_cast<std::size_t>(elements_of_rotation(example, head_dim)));
  const Kind kind = random.of({Kind::zeros, Kind::normal, Kind::powers, Kind::specials, Kind::any_finite});
  for (Bits& bits : example.elements) bits = draw_element(random, format, kind);
}

}  // namespace

std::vector<Case> near_zeros_sinusoidal(Random& random, Dtype dtype) {
  Sinusoidal encoding = draw_sinusoidal(random, Taste::usual, 64);
  encoding.position_offset = 0;
  if (!random.once_in(3)) encoding.scale = random.sign() * draw_guarded(random, scale_guards());
  std::vector<Case> cases;
  if (random.once_in(2)) {
    const auto frequencies = frequencies_of(encoding);
    for (const std::int64_t position :
         positions_near_zeros(*frequencies, random.between(0, frequencies->count() - 1))) {
      if (random.once_in(4)) shuffle_in(random, position, dtype, encoding, cases);
    }
    return cases;
  }
  const std::int64_t pair = random.between(std::int64_t{0}, encoding.dim / 2 - 1);
  if (pair == 0) return {};
  encoding.angle_scale = 1;
  encoding.positions = {};
  const Zero zero = draw_zero(random, pair, encoding.dim / 2 - encoding.downscale_freq_shift);
  if (zero.base == 0) return {};
  encoding.base = zero.base;
  const std::int64_t shift = encoding.downscale_freq_shift;
  keep_in_domain(encoding);
  if (encoding.downscale_freq_shift != shift) return {};
  shuffle_in(random, zero.position, dtype, encoding, cases);
  return cases;
}

std::vector<Case> near_zeros_sinusoidal_2d(Random& random, Dtype dtype) {
  Sinusoidal2d encoding;
  encoding.dim = 2 * draw_width(random, 128);
  encoding.height = random.between(1, 100);
  encoding.width = furthest;
  encoding.layout = random.of({Layout::interleaved, Layout::concatenated});
  encoding.axis_order = random.of({AxisOrder::height_first, AxisOrder::width_first});
  const std::int64_t pair = random.between(std::int64_t{0}, encoding.dim / 4 - 1);
  std::int64_t position = 0;
  if (pair > 0) {
    const Zero zero = draw_zero(random, 2 * pair, encoding.dim / 2);
    if (zero.base == 0) return {};
    encoding.base = zero.base;
    position = zero.position;
  }
  std::vector<std::int64_t> positions;
  const std::int64_t count = random.between(1, 40);
  for (std::int64_t i = 0; i < 2 * count; ++i) positions.push_back(position - random.between(-3, 140));
  positions.front() = position;
  return {table_case(random, encoding, dtype, positions)};
}

std::vector<Case> near_zeros_rope(Random& random, Dtype dtype) {
  Rope rope = draw_rope(random, Taste::usual, 64);
  std::vector<std::int64_t> positions;
  const std::int64_t pair = random.between(std::int64_t{0}, rope.rotary_dim / 2 - 1);
  if (pair > 0 && random.once_in(2) && std::holds_alternative<DefaultScaling>(rope.rope_scaling)) {
    const Zero zero = draw_zero(random, 2 * pair, frequency_width(rope));
    if (zero.base == 0) return {};
    rope.rope_theta = zero.base;
    rope.positions = {};
    positions = {zero.position, -zero.position, 2 * zero.position};
  } else {
    positions = positions_near_zeros(*frequencies_of(rope, 1), pair);
    put_positions(random, positions);
  }
  if (positions.empty()) return {};
  if (random.once_in(3) && !stands_still(rope)) {
    Case example = table_case(random, rope, dtype, positions);
    example.operation = Operation::tables;
    example.offset -= example.offset % 8;
    return {example};
  }
  Case example = rotation_case(random, rope, dtype, positions, random.between(1, 5));
  fill_for_zeros(random, rope.head_dim, example);
  return {example};
}

std::vector<Case> near_zeros_rope_nd(Random& random, Dtype dtype) {
  const RopeNd encoding = draw_rope_nd(random, Taste::usual);
  const std::vector<AxialPair> pairs = axial_pairs(encoding, 0);
  const AxialPair& pair = pairs[static_cast<std::size_t>(random.between(std::int64_t{0}, std::ssize(pairs) - 1))];
  std::vector<std::int64_t> positions = positions_near_zeros(*pair.frequencies, pair.index);
  // Of counts 2p + 1 - extent: the nearer half of them.
  if (!encoding.extents.empty()) {
    const auto axis = static_cast<std::size_t>(pair.axis);
    const int bits = shift_bits(encoding, pair.axis);
    const double shift = encoding.coordinate_shifts.empty() ? 0 : encoding.coordinate_shifts[axis];
    const auto moved = static_cast<std::int64_t>(shift * static_cast<double>(encoding.extents[axis]));
    for (std::int64_t& position : positions)
      position = (position / (std::int64_t{1} << bits) - moved - 1 + encoding.extents[axis]) / 2;
  }
  put_positions(random, positions);
  if (positions.empty()) return {};
  Case example = rotation_case(random, encoding, dtype, positions, random.between(1, 5));
  for (std::size_t axis = 1; axis < encoding.sections.size(); ++axis) {
    for (std::size_t i = 0; i < positions.size(); ++i)
      example.positions.push_back(random.once_in(2) ? positions[i] : draw_position(random));
  }
  keep_in_domain(encoding, example.positions);
  fill_for_zeros(random, encoding.rope.head_dim, example);
  return {example};
}

std::vector<Case> near_zeros_xpos(Random& random, Dtype dtype) {
  Xpos encoding = draw_xpos(random, Taste::usual);
  const std::int64_t pair = random.between(std::int64_t{0}, encoding.rope.rotary_dim / 2 - 1);
  std::vector<std::int64_t> positions;
  if (pair > 0 && random.once_in(2)) {
    const Zero zero = draw_zero(random, 2 * pair, frequency_width(encoding.rope));
    if (zero.base == 0) return {};
    encoding.rope.rope_theta = zero.base;
    positions = {zero.position, -zero.position};
  } else {
    positions = positions_near_zeros(*frequencies_of(encoding.rope, 0), pair);
    put_positions(random, positions);
    // So that the factor does not hide them.
    encoding.scale_base = random.of({512.0, 1e15, 1e16});
  }
  if (positions.empty()) return {};
  Case example = rotation_case(random, encoding, dtype, positions, random.between(1, 5));
  fill_for_zeros(random, encoding.rope.head_dim, example);
  return {example};
}

}  // namespace sextant::attack
