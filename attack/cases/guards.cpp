#include "attack/cases/guards.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "attack/cases/attacks.hpp"
#include "attack/cases/draw.hpp"
#include "attack/truth/truths.hpp"

namespace sextant::attack {
namespace {

constexpr std::string_view quick_certificate = "lib/sinusoidal/quick_certificate-inl.h";
constexpr std::string_view anchors = "lib/sinusoidal/anchors-inl.h";
constexpr std::string_view quick_pairs = "lib/rope/tiers";
constexpr std::string_view settle = "lib/rope/settle.cpp";

// The exponent of 1.5 |scale| counts there, so that its limits lie at 2^k / 1.5 as well.
constexpr std::array scales{
    Guard{"Suits, float16, least", quick_certificate, 0.5},
    Guard{"Suits, least", quick_certificate, 0x1p-14},
    Guard{"Suits, greatest", quick_certificate, 0x1p14},
    Guard{"to_bit_30_, greatest", quick_certificate, 0x1p14 / 1.5},
    Guard{"to_bit_30_, float16, least", quick_certificate, 1 / 1.5},
    Guard{"to_bit_30_, least", quick_certificate, 0x1p-13 / 1.5},
    Guard{"to_bit_30_, at 1", quick_certificate, 2 / 1.5},
    Guard{"ScaleIsModerate, least", anchors, 0x1p-800},
    Guard{"ScaleIsModerate, greatest", anchors, 0x1p900},
    Guard{"float16, largest", "lib/numeric/dtype.cpp", 65504},
    Guard{"float16, rounds to infinity", "lib/numeric/dtype.cpp", 65520},
    Guard{"float16, least normal", "lib/numeric/dtype.cpp", 0x1p-14},
    Guard{"float16, least", "lib/numeric/dtype.cpp", 0x1p-24},
    Guard{"float16, rounds to zero", "lib/numeric/dtype.cpp", 0x1p-25},
    Guard{"float32, largest", "lib/numeric/dtype.cpp", 0x1.fffffep127},
    Guard{"float32, rounds to infinity", "lib/numeric/dtype.cpp", 0x1.ffffffp127},
    Guard{"bfloat16, rounds to infinity", "lib/numeric/dtype.cpp", 0x1.ffp127},
    Guard{"float32, least normal", "lib/numeric/dtype.cpp", 0x1p-126},
    Guard{"float32, least", "lib/numeric/dtype.cpp", 0x1p-149},
    Guard{"float32, rounds to zero", "lib/numeric/dtype.cpp", 0x1p-150},
    Guard{"bfloat16, least", "lib/numeric/dtype.cpp", 0x1p-133},
    Guard{"float64, largest", "lib/numeric/dtype.cpp", std::numeric_limits<double>::max()},
    Guard{"float64, least normal", "lib/numeric/dtype.cpp", 0x1p-1022},
    Guard{"float64, least", "lib/numeric/dtype.cpp", 0x1p-1074},
    Guard{"one", "lib/sinusoidal/row-inl.h", 1},
};

constexpr std::array factors{
    Guard{"ordinary, least", "lib/rope/kernels/row-inl.h", 0x1p-20},
    Guard{"ordinary, greatest", "lib/rope/kernels/row-inl.h", 0x1p20},
    Guard{"double-double tier, least", settle, 0x1p-20},
    Guard{"double-double tier, greatest", settle, 0x1p20},
    Guard{"one", settle, 1},
    Guard{"least", settle, 0x1p-1074},
    Guard{"least normal", settle, 0x1p-1022},
    Guard{"greatest", settle, std::numeric_limits<double>::max()},
    Guard{"splitting", "lib/kernels/double_double-inl.h", 0x1p996},
};

constexpr std::array sizes{
    Guard{"float32, least", quick_pairs, 0x1p-126},
    Guard{"float32, ratio", quick_pairs, 6144},
    Guard{"float16, least", quick_pairs, 0x1p-14},
    Guard{"float16, ratio", quick_pairs, 2048},
    Guard{"float16 in double, ratio", quick_pairs, 0x1p20},
    Guard{"bfloat16, least", quick_pairs, 0x1p-100},
    Guard{"bfloat16, most", quick_pairs, 0x1p100},
    Guard{"bfloat16, ratio", quick_pairs, 16384},
    Guard{"double-double tier, least", "lib/rope/kernels/row-inl.h", 0x1p-900},
    Guard{"double-double tier, greatest", "lib/rope/kernels/row-inl.h", 0x1p900},
    Guard{"double-double tier with powers, least", "lib/rope/kernels/row-inl.h", 0x1p-400},
    Guard{"double-double tier with powers, greatest", "lib/rope/kernels/row-inl.h", 0x1p400},
    Guard{"float16, largest", "lib/numeric/dtype.cpp", 65504},
    Guard{"float32, largest", "lib/numeric/dtype.cpp", 0x1.fffffep127},
    Guard{"float64, largest", "lib/numeric/dtype.cpp", std::numeric_limits<double>::max()},
    Guard{"splitting", "lib/kernels/double_double-inl.h", 0x1p996},
    Guard{"float32, least", "lib/numeric/dtype.cpp", 0x1p-149},
    Guard{"float16, least", "lib/numeric/dtype.cpp", 0x1p-24},
    Guard{"bfloat16, least subnormal", "lib/numeric/dtype.cpp", 0x1p-133},
    Guard{"float64, least", "lib/numeric/dtype.cpp", 0x1p-1074},
};

// Exponents of two of a pair's factor.
constexpr std::array powers{
    Guard{"quick, least and greatest", "lib/rope/kernels/pair_bounds-inl.h", 60},
    Guard{"known, least", "lib/rope/kernels/pair_bounds-inl.h", 498},
    Guard{"known, greatest", "lib/rope/kernels/pair_bounds-inl.h", 499},
    Guard{"exponent_limit", "lib/kernels/powers.hpp", 500},
    Guard{"exponent_limit and steps", "lib/kernels/powers.hpp", 560},
    Guard{"float32, largest", "lib/numeric/dtype.cpp", 128},
    Guard{"float32, least", "lib/numeric/dtype.cpp", 149},
    Guard{"float64, largest", "lib/numeric/dtype.cpp", 1024},
    Guard{"float64, least", "lib/numeric/dtype.cpp", 1074},
    // ci/constants: double = ln2
    Guard{"largest_exponent", "lib/xpos/geometric_rotations.cpp", 20000 / 0.6931471805599453},
};

constexpr std::array counts{
    Guard{"few_rows", anchors, 4},
    Guard{"block", "lib/sinusoidal/plan.hpp", 64},
    Guard{"span", "lib/sinusoidal/plan.hpp", 127},
    Guard{"most_turns blocks", anchors, 31 * 127},
    Guard{"a strip of few rows", "lib/sinusoidal/sinusoidal.cpp", 2 * 127},
    Guard{"count of steps", "lib/kernels/step_rotations.hpp", 16},
    Guard{"turns, 16 bits", "lib/rope/tiers/narrow_row-inl.h", 16},
    Guard{"turns, float32", "lib/rope/tiers/float32-inl.h", 64},
    Guard{"tile", "lib/rope/job.hpp", 256},
    Guard{"tile", anchors, 512},
};

Bits element_at(Random& random, const ElementFormat& format, double size) {
  Real value(64, std::min(size, 1.7e308));
  const Bits bits = rounded(format, value.get());
  const Bits step = random.bits() % 3;
  const auto moved = std::clamp<std::int64_t>(static_cast<std::int64_t>(bits) + static_cast<std::int64_t>(step) - 1, 0,
                                              static_cast<std::int64_t>(format.largest()));
  return static_cast<Bits>(moved) | (random.once_in(2) ? format.sign() : 0);
}

// Pairs that a pair's rotation turns into (y0, y1) with sizes at the guards, or that are of such sizes themselves.
// `turn_at(pair, token)` is the rotation, or nothing.
template <class TurnAt>
void fill_at_guards(Random& random, const Rope& rope, TurnAt turn_at, Case& example) {
  const ElementFormat format = element_format(example.spec.dtype);
  example.elements = draw_elements(random, example.spec.dtype, elements_of_rotation(example, rope.head_dim));
  const Pairing in = example.operation == Operation::backward ? rope.output_pairing : rope.pairing;
  const std::int64_t vectors = example.batch * example.tokens * example.heads;
  const double size = draw_guarded(random, size_guards());
  for (std::int64_t vector = 0; vector < vectors; ++vector) {
    for (std::int64_t pair = 0; pair < rope.rotary_dim / 2; ++pair) {
      const auto channels = rotary_channels(rope, in, pair);
      Bits& first = example.elements[static_cast<std::size_t>(vector * rope.head_dim + channels.first)];
      Bits& second = example.elements[static_cast<std::size_t>(vector * rope.head_dim + channels.second)];
      switch (random.between(0, 3)) {
        case 0:
          first = element_at(random, format, size);
          second = element_at(random, format, draw_guarded(random, size_guards()));
          break;
        case 1:
          first = element_at(random, format, size);
          second = element_at(random, format, size);
          break;
        case 2: {
          const std::optional<QuickTurn> turn = turn_at(pair, vector / example.heads);
          if (!turn) break;
          const double large = random.of_magnitude(0x1p-10, 0x1p10);
          const double y0 = large * random.sign();
          const double y1 = large / random.beside(draw_guarded(random, size_guards().subspan(1, 7)), 9) * random.sign();
          const auto c = static_cast<double>(turn->cosine);
          const auto s = static_cast<double>(turn->sine);
          const auto put = [&](double value) { return rounded(format, Real(64, value).get()); };
          first = put(y0 * c + y1 * s);
          second = put(y1 * c - y0 * s);
          break;
        }
        default: break;
      }
    }
  }
}

std::int64_t sign_of(const Rope& rope, const Case& example) {
  return (rope.direction == Direction::clockwise) == (example.operation == Operation::backward) ? 1 : -1;
}

std::optional<QuickTurn> quick_turn(const Frequencies& frequencies, std::int64_t pair, std::int64_t position) {
  return position == 0 ? std::nullopt : frequencies.quickly_turned(pair, position);
}

auto by_position(const Rope& rope, std::shared_ptr<const Frequencies> frequencies, const Case& example) {
  return [&, frequencies](std::int64_t pair, std::int64_t token) {
    return quick_turn(*frequencies, pair, sign_of(rope, example) * example.positions[static_cast<std::size_t>(token)]);
  };
}

}  // namespace

std::span<const Guard> scale_guards() { return scales; }
std::span<const Guard> factor_guards() { return factors; }
std::span<const Guard> size_guards() { return sizes; }
std::span<const Guard> power_guards() { return powers; }
std::span<const Guard> count_guards() { return counts; }

double draw_guarded(Random& random, std::span<const Guard> guards) {
  // Half of the draws are of the file listed first: certificates have the more intricate limits.
  const bool one_file = random.once_in(2);
  std::vector<double> values;
  for (const Guard& guard : guards) {
    if (!one_file || guard.file == guards.front().file) values.push_back(guard.value);
  }
  std::ranges::sort(values);
  const std::int64_t chosen = random.between(std::int64_t{0}, std::ssize(values) - 1);
  const double value = values[static_cast<std::size_t>(chosen)];
  const double next = chosen + 1 < std::ssize(values) ? values[static_cast<std::size_t>(chosen + 1)] : value;
  const auto finite = [](double number) { return std::clamp(number, 0x1p-1074, std::numeric_limits<double>::max()); };
  switch (random.between(0, 4)) {
    case 0: return value;
    case 1: return finite(random.beside(value));
    case 2: return finite(value * (1 + random.between(-0x1p-6, 0x1p-6)));
    // Between two limits code may be wrong throughout.
    default: return finite(random.of_magnitude(value, next));
  }
}

std::vector<Case> guards_sinusoidal(Random& random, Dtype dtype) {
  Sinusoidal encoding = draw_sinusoidal(random, Taste::usual, random.once_in(16) ? 2048 : 64);
  encoding.scale = random.sign() * draw_guarded(random, scale_guards());
  // A scale beyond the limits takes every element to the last tier.
  const bool moderate = std::fabs(encoding.scale) >= 0x1p-30 && std::fabs(encoding.scale) <= 0x1p30;
  if (!moderate) encoding.dim = std::min<std::int64_t>(encoding.dim, 2 * random.between(2, 24));
  keep_in_domain(encoding);
  const double most =
      (moderate ? random.of({4096.0, 4096.0, 4096.0, 16384.0}) : 512.0) / static_cast<double>(encoding.dim);
  const auto count =
      static_cast<std::int64_t>(std::min(random.of(count_guards()).value * random.of({1.0, 1.0, 2.0}), most)) +
      random.between(-1, 2);
  const std::int64_t rows = std::max<std::int64_t>(count, 1);
  const std::int64_t zero = -encoding.position_offset;
  const std::int64_t first =
      random.once_in(3) ? draw_position(random) : zero - random.between(std::int64_t{0}, rows - 1);
  const std::int64_t limit = 2 * furthest;
  const auto in_domain = [&](std::int64_t position) {
    return std::abs(position) <= limit && std::abs(position + encoding.position_offset) <= limit;
  };
  std::vector<Case> cases;
  const std::int64_t step = random.of({1, 1, 1, -1, 2, 0, 63, 127});
  if (in_domain(first) && in_domain(first + step * (rows - 1)))
    cases.push_back(range_case(random, encoding, dtype, {first, rows, step}));
  std::vector<std::int64_t> list;
  for (std::int64_t i = 0; i < rows; ++i) {
    const std::int64_t position = random.once_in(40) ? random.of({limit, -limit, zero}) : first + step * i;
    if (in_domain(position)) list.push_back(position);
  }
  if (!list.empty()) cases.push_back(table_case(random, encoding, dtype, list));
  return cases;
}

std::vector<Case> guards_rope(Random& random, Dtype dtype) {
  Rope rope = draw_plain_rope(random, Taste::usual, random.once_in(8) ? 1024 : 64);
  const std::int64_t count = rope.rotary_dim / 2;
  if (random.once_in(2)) {
    rope.rotary_layout = RotaryLayout::prefix;
    LongropeScaling longrope;
    longrope.original_max_position_embeddings = random.between(2, 100);
    longrope.short_factor.assign(static_cast<std::size_t>(count), 1.0);
    longrope.long_factor.assign(static_cast<std::size_t>(count), random.between(1.0, 2.0));
    longrope.attention_factor = draw_guarded(random, factor_guards());
    rope.rope_scaling = longrope;
  }
  // Tokens enough for rows to be turned from each other, heads enough that they are.
  const std::int64_t heads = random.of(
      {std::int64_t{1}, random.between(1, 8),
       std::min<std::int64_t>(4096 / (count * (element_format(dtype).width / 8) * 2) + random.between(0, 1), 128)});
  // A factor beyond the limits takes every element to the last tier.
  const auto* scaled = std::get_if<LongropeScaling>(&rope.rope_scaling);
  const bool ordinary =
      scaled == nullptr || (*scaled->attention_factor >= 0x1p-20 && *scaled->attention_factor <= 0x1p20);
  const std::int64_t most =
      std::max<std::int64_t>(1, (ordinary ? 4096 : 256) / (rope.head_dim * std::max<std::int64_t>(heads, 1)));
  const auto tokens = std::clamp<std::int64_t>(
      static_cast<std::int64_t>(random.of(count_guards()).value) + random.between(-1, 3), 1, most);
  std::vector<std::int64_t> positions = draw_positions(random, tokens);
  if (random.once_in(4)) {
    Case example = table_case(random, rope, dtype, positions);
    example.operation = Operation::tables;
    example.offset -= example.offset % 8;
    return {example};
  }
  Case example = rotation_case(random, rope, dtype, positions, std::max<std::int64_t>(heads, 1));
  const auto frequencies = frequencies_of(rope, length_of_row(rope, example, 0));
  fill_at_guards(random, rope, by_position(rope, frequencies, example), example);
  return {example};
}

std::vector<Case> guards_rope_nd(Random& random, Dtype dtype) {
  const RopeNd encoding = draw_rope_nd(random, Taste::usual);
  const std::int64_t tokens = draw_count(random, std::max<std::int64_t>(1, 4096 / encoding.rope.head_dim));
  Case example = rotation_case(random, encoding, dtype, draw_positions(random, tokens), random.between(1, 4));
  for (std::size_t axis = 1; axis < encoding.sections.size(); ++axis) {
    const auto more = draw_positions(random, tokens);
    example.positions.insert(example.positions.end(), more.begin(), more.end());
  }
  keep_in_domain(encoding, example.positions);
  const std::vector<AxialPair> pairs = axial_pairs(encoding, length_of_call(example));
  const auto turn_at = [&](std::int64_t pair, std::int64_t token) {
    const auto& [axis, frequencies, index] = pairs[static_cast<std::size_t>(pair)];
    return quick_turn(
        *frequencies, index,
        sign_of(encoding.rope, example) *
            axial_position(encoding, axis,
                           example.positions[static_cast<std::size_t>(axis * example.batch * example.tokens + token)]));
  };
  fill_at_guards(random, encoding.rope, turn_at, example);
  return {example};
}

std::vector<Case> guards_xpos(Random& random, Dtype dtype) {
  Xpos encoding = draw_xpos(random, Taste::usual);
  // Pair 0 has the fastest power: log2(7/2) / scale_base doublings a position, of which more than largest_pair_rate = 4
  // goes another way.
  const double doublings = std::log2(3.5);
  encoding.scale_base = random.once_in(3) ? random.beside(doublings / 4, 4) : random.of_magnitude(0.3, 1e4);
  std::vector<std::int64_t> positions;
  for (std::int64_t i = random.between(1, 20); i > 0; --i) {
    const double exponent = draw_guarded(random, power_guards());
    positions.push_back(static_cast<std::int64_t>(random.sign() * exponent * encoding.scale_base / doublings) +
                        random.between(-1, 1));
  }
  if (random.once_in(3)) {
    // Position 0 does not turn: zeta_3 = 1/2 of width 20 and zeta_31 = 9/16 of width 160 have powers that are exact.
    const bool is_root = random.once_in(2);
    encoding.rope.head_dim = encoding.rope.rotary_dim = is_root ? 160 : 20;
    encoding.scale_base = random.of({512.0, 2.0, 3.0});
    encoding.centre = random.between(-40, 40) * static_cast<std::int64_t>(encoding.scale_base) / (is_root ? 2 : 1);
    positions.push_back(0);
  }
  Case example = rotation_case(random, encoding, dtype, positions, random.between(1, 4));
  fill_at_guards(random, encoding.rope, by_position(encoding.rope, frequencies_of(encoding.rope, 0), example), example);
  return {example};
}

std::vector<Case> guards_alibi(Random& random, Dtype dtype) {
  Alibi encoding;
  encoding.num_heads = random.between(1, 20);
  encoding.mask = random.of({Mask::causal, Mask::symmetric});
  if (encoding.mask == Mask::causal && random.once_in(3)) encoding.form = AlibiForm::key_index;
  if (random.once_in(3)) encoding.slopes = AlibiSlopes::geometric;
  if (random.once_in(3)) encoding.bias_max = random.between(1, 24);
  if (random.once_in(3))
    encoding.slope_dtype = random.of({Dtype::bfloat16, Dtype::float16, Dtype::float32, Dtype::float64});
  // The kernel takes calls whose positions are within 2^52.
  const auto position = [&] {
    const std::int64_t limit = random.of({furthest / 2, furthest});
    return random.once_in(2) ? random.sign() > 0 ? limit - random.between(-1, 2) : random.between(-1, 2) - limit
                             : draw_position(random);
  };
  Case example = table_case(random, encoding, dtype, {});
  example.operation = Operation::bias;
  for (std::int64_t i = random.between(1, 5); i > 0; --i)
    example.positions.push_back(std::clamp(position(), -furthest, furthest));
  for (std::int64_t i = random.between(1, 20); i > 0; --i)
    example.keys.push_back(std::clamp(position(), -furthest, furthest));
  if (random.once_in(2)) {
    for (auto* list : {&example.positions, &example.keys}) {
      for (std::int64_t& p : *list) p = std::clamp(p, -furthest / 2, furthest / 2);
    }
  }
  return {example};
}

}  // namespace sextant::attack
