#include <algorithm>
#include <cmath>

#include "attack/cases/attacks.hpp"
#include "attack/cases/draw.hpp"

namespace sextant::attack {
namespace {

// A number halfway between two elements, or beside that in double.
double draw_tie(Random& random, const ElementFormat& format) {
  const Bits element = random.bits() % format.largest();
  const double tie = (value_of(format, element) / 2 + value_of(format, element + 1) / 2);
  return random.of({tie, tie, random.beside(tie, 1)});
}

// Elements whose exact sum is a tie, a tie and the least bit more, or zero, whatever the order they come in.
std::vector<Bits> draw_sum(Random& random, const ElementFormat& format, std::int64_t count) {
  std::vector<Bits> list;
  const Bits large =
      draw_element(random, format, random.of({Kind::normal, Kind::any_finite, Kind::largest, Kind::subnormal}));
  list.push_back(large);
  const int exponent = static_cast<int>(magnitude(format, large) >> format.stored());
  // Half a unit in its last place, and what tips the balance.
  const int half = exponent - format.precision;
  if (half >= 1) list.push_back((static_cast<Bits>(half) << format.stored()) | (random.once_in(2) ? format.sign() : 0));
  if (random.once_in(2)) list.push_back(Bits{1} | (random.once_in(2) ? format.sign() : 0));
  if (random.once_in(4)) list.push_back(large ^ format.sign());
  if (random.once_in(12)) list.push_back(draw_element(random, format, Kind::specials));
  while (static_cast<std::int64_t>(list.size()) + 2 <= count && random.once_in(2)) {
    const Bits pair = draw_element(random, format, random.of({Kind::normal, Kind::any_finite}));
    list.push_back(pair);
    list.push_back(pair ^ format.sign());
  }
  while (static_cast<std::int64_t>(list.size()) < count) list.push_back(random.once_in(2) ? 0 : format.sign());
  list.resize(static_cast<std::size_t>(count));
  for (std::size_t i = list.size(); i > 1; --i)
    std::swap(list[i - 1],
              list[static_cast<std::size_t>(random.between(std::int64_t{0}, static_cast<std::int64_t>(i) - 1))]);
  return list;
}

}  // namespace

// At position 0 the cosine's element is the scale, rounded.
std::vector<Case> exact_ties_sinusoidal(Random& random, Dtype dtype) {
  Sinusoidal encoding = draw_sinusoidal(random, Taste::usual, 16);
  encoding.scale = random.sign() * draw_tie(random, element_format(dtype));
  if (encoding.scale == 0 || !std::isfinite(encoding.scale)) return {};
  const std::int64_t zero = -encoding.position_offset;
  const std::int64_t before = random.between(0, 20);
  return {range_case(random, encoding, dtype, {zero - before, before + random.between(1, 20), 1}),
          table_case(random, encoding, dtype, {zero, zero, random.once_in(2) ? zero + 1 : zero})};
}

// At position 0 an element is a x: a tie where a is a double, or p/q.
std::vector<Case> exact_ties_rope(Random& random, Dtype dtype) {
  Rope rope = draw_plain_rope(random, Taste::usual, 64);
  rope.rotary_layout = RotaryLayout::prefix;
  LongropeScaling longrope;
  longrope.original_max_position_embeddings = 2;
  longrope.short_factor.assign(static_cast<std::size_t>(rope.rotary_dim / 2), 1.0);
  longrope.long_factor = longrope.short_factor;
  const double odd = static_cast<double>(2 * random.between(0, 500) + 1);
  switch (random.between(0, 3)) {
    case 0: longrope.attention_factor = odd * std::ldexp(1.0, static_cast<int>(random.between(-30, 10))); break;
    case 1: longrope.attention_factor = 1; break;
    case 2: longrope.attention_factor = std::ldexp(1.0, static_cast<int>(random.between(-1074, 1000))); break;
    default: {
      // 1 + j/k is a square of a ratio: s = L^(j/k), L = 2^k.
      struct Square {
        int j;
        int k;
      };
      const auto [j, k] = random.of({Square{3, 1}, Square{8, 1}, Square{15, 1}, Square{5, 4}, Square{7, 9},
                                     Square{16, 9}, Square{9, 16}, Square{21, 4}});
      longrope.original_max_position_embeddings = std::int64_t{1} << k;
      longrope.factor = std::ldexp(1.0, j);
    }
  }
  rope.rope_scaling = longrope;
  std::vector<std::int64_t> positions(static_cast<std::size_t>(random.between(1, 5)), 0);
  if (random.once_in(2)) positions.back() = random.between(0, 3);
  Case example = rotation_case(random, rope, dtype, positions, random.between(1, 8));
  const ElementFormat format = element_format(dtype);
  example.elements = draw_elements(random, dtype, elements_of_rotation(example, rope.head_dim));
  // Of few bits, or multiples of 3, so that quotients by the second are exact too.
  for (Bits& bits : example.elements) {
    if (random.once_in(4)) bits = (bits >> (format.precision / 2)) << (format.precision / 2);
    if (random.once_in(4)) bits = bits_of(format, static_cast<double>(3 * random.between(-40, 40)));
    if (random.once_in(16)) bits = format.sign();
  }
  return {example};
}

std::vector<Case> exact_ties_integer(Random& random, Dtype dtype) {
  Integer encoding;
  encoding.dim = random.between(1, 5);
  encoding.normalize = random.once_in(2);
  const ElementFormat format = element_format(dtype);
  std::vector<std::int64_t> positions;
  for (int i = 0; i < 40; ++i) {
    // An odd multiple of half a place, times a power of two.
    const int bits = std::min(format.precision + 1, 53);
    const std::int64_t tie =
        (std::int64_t{1} << (bits - 1)) + 2 * random.between(std::int64_t{0}, (std::int64_t{1} << (bits - 2)) - 1) + 1;
    const std::int64_t position = tie << random.between(0, 53 - bits);
    positions.push_back(
        std::clamp(random.once_in(4) ? -position : position + (random.once_in(4) ? random.between(-1, 1) : 0),
                   -furthest, furthest));
  }
  positions.insert(positions.end(), {0, furthest, -furthest, 65519, 65520, 65521});
  Case example = table_case(random, encoding, dtype, positions);
  example.spec.max_position =
      random.of({(std::int64_t{1} << random.between(1, 52)) + 1, std::int64_t{4}, furthest, std::int64_t{2}});
  return {example};
}

// Of slopes that are whole powers of two, times distances that are ties.
std::vector<Case> exact_ties_alibi(Random& random, Dtype dtype) {
  Alibi encoding;
  encoding.num_heads = random.of({1, 2, 4, 8, 16, 32, 3, 12});
  encoding.mask = random.of({Mask::causal, Mask::symmetric});
  if (encoding.mask == Mask::causal && random.once_in(2)) encoding.form = AlibiForm::key_index;
  if (random.once_in(3)) encoding.slopes = AlibiSlopes::geometric;
  if (random.once_in(3)) encoding.bias_max = random.between(1, 24);
  if (random.once_in(3))
    encoding.slope_dtype = random.of({Dtype::bfloat16, Dtype::float16, Dtype::float32, Dtype::float64});
  const ElementFormat format = element_format(dtype);
  Case example = table_case(random, encoding, dtype, {random.of({std::int64_t{0}, furthest})});
  example.operation = random.once_in(16) ? Operation::slope : Operation::bias;
  for (int i = 0; i < 24; ++i) {
    const int bits = std::min(format.precision + 1, 53);
    const std::int64_t tie =
        (std::int64_t{1} << (bits - 1)) + 2 * random.between(std::int64_t{0}, (std::int64_t{1} << (bits - 2)) - 1) + 1;
    const std::int64_t key = random.sign() > 0 ? tie : -(tie << random.between(0, 53 - bits));
    example.keys.push_back(std::clamp(key, -furthest, furthest));
  }
  // A slope of few bits has ties at near distances.
  if (encoding.slope_dtype) {
    for (int i = 0; i < 40; ++i) example.keys.push_back(example.positions.front() - random.between(0, 4096));
  }
  example.keys.push_back(example.positions.front());
  return {example};
}

std::vector<Case> exact_ties_relative_bias(Random& random, Dtype dtype) {
  RelativeBias encoding;
  encoding.bidirectional = random.once_in(2);
  if (!encoding.bidirectional && random.once_in(2)) encoding.later_keys = LaterKeys::mirrored;
  encoding.num_buckets = 2 * random.of({random.between(2, 40), random.between(2, 8), std::int64_t{16},
                                        std::int64_t{1} << random.between(1, 9)});
  const std::int64_t exact = (encoding.bidirectional ? encoding.num_buckets / 2 : encoding.num_buckets) / 2;
  // max/exact a power of a small number, so that borders are met by integers.
  const std::int64_t root = random.between(2, 7);
  std::int64_t most = exact;
  while (most <= furthest / root && !random.once_in(9)) most *= root;
  encoding.max_distance = std::max(
      random.once_in(3) ? static_cast<std::int64_t>(random.of_magnitude(static_cast<double>(exact + 1), 0x1p53)) : most,
      exact + 1);
  if (encoding.bidirectional && random.once_in(2)) {
    // DeBERTa's, whose borders are those of the distance before the last.
    encoding.buckets = random.of({BucketRule::log, BucketRule::log, BucketRule::clipped});
    encoding.num_buckets = std::max<std::int64_t>(encoding.num_buckets / 4 * 4, 8);
    const std::int64_t span = encoding.num_buckets / 2;
    encoding.max_distance = encoding.buckets == BucketRule::clipped
                                ? span
                                : std::max(std::min(encoding.max_distance, furthest - 1) + 1, span);
  }
  Case example;
  example.spec = spec_of(encoding, dtype);
  example.operation = Operation::bucket;
  for (int i = 0; i < 120; ++i) {
    // Borders are at exact (max/exact)^(k/m).
    const double share =
        static_cast<double>(random.between(0, 2 * exact)) / static_cast<double>(std::max<std::int64_t>(exact, 1));
    const double border =
        static_cast<double>(exact) *
        std::pow(static_cast<double>(encoding.max_distance) / static_cast<double>(exact), std::min(share, 1.0));
    const std::int64_t distance = static_cast<std::int64_t>(std::min(border, 0x1p62)) + random.between(-1, 2);
    example.positions.push_back(random.once_in(2) ? distance : -distance);
  }
  for (const std::int64_t far : {std::int64_t{0}, INT64_MAX, INT64_MIN, INT64_MIN + 1, encoding.max_distance,
                                 -encoding.max_distance, exact, -exact, exact - 1, 1 - exact}) {
    example.positions.push_back(far);
  }
  return {example};
}

std::vector<Case> exact_ties_sums_relative_bias(Random& random, Dtype dtype) {
  RelativeBias encoding;
  encoding.bidirectional = random.once_in(2);
  encoding.num_buckets = 2 * random.between(2, 8);
  encoding.max_distance = random.between(20, 60);
  Case example = table_case(random, encoding, dtype, {});
  example.operation = Operation::grad_weight;
  example.heads = random.between(1, 9);
  for (std::int64_t i = random.between(1, 12); i > 0; --i) example.positions.push_back(random.between(-30, 30));
  for (std::int64_t i = random.between(1, 24); i > 0; --i) example.keys.push_back(random.between(-30, 30));
  const auto pairs = static_cast<std::int64_t>(example.positions.size() * example.keys.size());
  for (std::int64_t head = 0; head < example.heads; ++head) {
    const auto sum = draw_sum(random, element_format(dtype), pairs);
    example.elements.insert(example.elements.end(), sum.begin(), sum.end());
  }
  return {example};
}

std::vector<Case> exact_ties_learned(Random& random, Dtype dtype) {
  Learned encoding;
  encoding.dim = random.of({random.between(1, 20), random.between(510, 514)});
  encoding.max_positions = random.between(1, 4);
  const std::int64_t rows = random.between(1, 14);
  Case example = table_case(random, encoding, dtype, {});
  example.operation = Operation::grad_weight;
  for (std::int64_t i = 0; i < rows; ++i)
    example.positions.push_back(random.between(std::int64_t{0}, encoding.max_positions - 1));
  example.elements.resize(static_cast<std::size_t>(rows * encoding.dim));
  for (std::int64_t channel = 0; channel < encoding.dim; ++channel) {
    const auto sum = draw_sum(random, element_format(dtype), rows);
    for (std::int64_t row = 0; row < rows; ++row) {
      example.elements[static_cast<std::size_t>(row * encoding.dim + channel)] = sum[static_cast<std::size_t>(row)];
    }
  }
  return {example};
}

}  // namespace sextant::attack
