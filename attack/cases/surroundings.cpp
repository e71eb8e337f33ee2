#include <algorithm>
#include <cmath>

#include "attack/cases/attacks.hpp"
#include "attack/cases/draw.hpp"
#include "attack/truth/truths.hpp"
#include "lib/spec/of.hpp"

namespace sextant::attack {
namespace {

// Elements of a call that keep the judge some milliseconds. Values below 2^-192, of frequencies of such size, take each
// encoder to its last tier, a millisecond each.
constexpr std::int64_t most_elements = 8192;
constexpr std::int64_t most_exotic_elements = 256;
std::int64_t most_of(Taste taste) { return taste == Taste::usual ? most_elements : most_exotic_elements; }

std::vector<Case> tables(Random& random, Taste taste, Dtype dtype) {
  // Seldom as wide as a tile and more.
  Sinusoidal encoding = draw_sinusoidal(random, taste, random.once_in(48) ? 8192 : 256);
  const std::int64_t limit = 2 * furthest - std::abs(encoding.position_offset);
  std::vector<Case> cases;
  for (std::int64_t calls = random.between(1, 8); calls > 0; --calls) {
    const std::int64_t rows = draw_count(random, most_of(taste) / encoding.dim);
    if (random.once_in(2)) {
      cases.push_back(table_case(random, encoding, dtype, draw_positions(random, rows, limit)));
      continue;
    }
    const std::int64_t step =
        random.of({std::int64_t{1}, std::int64_t{1}, std::int64_t{1}, std::int64_t{-1}, std::int64_t{0},
                   std::int64_t{2}, std::int64_t{127}, random.between(-1000, 1000), limit / (4 * rows)});
    const std::int64_t reach = step * (rows - 1);
    const std::int64_t first = std::clamp(draw_position(random, limit), -limit + std::max<std::int64_t>(-reach, 0),
                                          limit - std::max<std::int64_t>(reach, 0));
    cases.push_back(range_case(random, encoding, dtype, {first, rows, step}));
  }
  return cases;
}

std::vector<Case> grids(Random& random, Taste taste, Dtype dtype) {
  Sinusoidal2d encoding;
  encoding.dim = 2 * draw_width(random, taste == Taste::usual ? 256 : 32);
  encoding.height = random.between(1, 40);
  encoding.width = random.between(1, 40);
  encoding.base = draw_base(random, taste);
  encoding.layout = random.of({Layout::interleaved, Layout::concatenated});
  encoding.axis_order = random.of({AxisOrder::height_first, AxisOrder::width_first});
  const std::int64_t rows = draw_count(random, most_of(taste) / encoding.dim);
  std::vector<std::int64_t> positions = draw_positions(random, rows);
  const auto columns = draw_positions(random, rows);
  positions.insert(positions.end(), columns.begin(), columns.end());
  if (random.once_in(2)) {
    for (std::int64_t& position : positions) position = ((position % 40) + 40) % 40;
  }
  return {table_case(random, encoding, dtype, positions)};
}

// A few calls of one encoder, so that what it keeps from one to the next is asked for.
std::vector<Case> rotations(Random& random, const Encoding& encoding, std::int64_t head_dim, std::size_t axes,
                            Dtype dtype, Taste taste) {
  // Elements near the ends of a format take the later tiers too.
  const std::int64_t most = most_of(taste) / (taste == Taste::usual ? 4 : 1);
  std::vector<Case> cases;
  for (std::int64_t calls = random.between(1, 8); calls > 0; --calls) {
    const std::int64_t heads =
        random.of({std::int64_t{1}, random.between(1, 8), random.between(1, 8), random.between(1, 128)});
    const std::int64_t tokens = draw_count(random, most / (head_dim * heads));
    // Most at positions that models have; longer calls make `dynamic` and `longrope` change.
    const std::int64_t limit = random.of({std::int64_t{131072}, std::int64_t{100}, furthest, furthest});
    Case example = rotation_case(random, encoding, dtype, draw_positions(random, tokens, limit),
                                 std::max<std::int64_t>(1, std::min(heads, most / head_dim)));
    for (std::size_t axis = 1; axis < axes; ++axis) {
      const auto more = draw_positions(random, tokens, limit);
      example.positions.insert(example.positions.end(), more.begin(), more.end());
    }
    example.elements = draw_elements(random, dtype, elements_of_rotation(example, head_dim));
    cases.push_back(example);
  }
  return cases;
}

std::vector<Case> axial_rotations(Random& random, Dtype dtype, Taste taste) {
  const RopeNd encoding = draw_rope_nd(random, taste);
  std::vector<Case> cases = rotations(random, encoding, encoding.rope.head_dim, encoding.sections.size(), dtype, taste);
  for (Case& example : cases) keep_in_domain(encoding, example.positions);
  return cases;
}

std::vector<Case> biases(Random& random, Taste taste, Dtype dtype) {
  Alibi encoding;
  encoding.num_heads = taste == Taste::usual
                           ? random.of({1, 8, 12, 16, 20})
                           : random.of({random.between(1, 70), random.between(1, 300), std::int64_t{2048}});
  encoding.mask = random.of({Mask::causal, Mask::symmetric});
  if (encoding.mask == Mask::causal && random.once_in(3)) encoding.form = AlibiForm::key_index;
  if (random.once_in(3)) encoding.slopes = AlibiSlopes::geometric;
  if (random.once_in(3)) encoding.bias_max = random.between(1, 24);
  if (random.once_in(3))
    encoding.slope_dtype = random.of({Dtype::bfloat16, Dtype::float16, Dtype::float32, Dtype::float64});
  Case example = table_case(random, encoding, dtype, {});
  if (encoding.num_heads > 1000 || random.once_in(8)) {
    example.operation = Operation::slope;
    return {example};
  }
  example.operation = Operation::bias;
  const std::int64_t limit = taste == Taste::usual ? 131072 : furthest;
  const std::int64_t queries = random.between(1, 6);
  example.positions = draw_positions(random, queries, limit);
  example.keys = draw_positions(random, draw_count(random, most_elements / (encoding.num_heads * queries)), limit);
  return {example};
}

}  // namespace

std::vector<Case> usual_sinusoidal(Random& random, Dtype dtype) { return tables(random, Taste::usual, dtype); }
std::vector<Case> exotic_sinusoidal(Random& random, Dtype dtype) { return tables(random, Taste::exotic, dtype); }
std::vector<Case> usual_sinusoidal_2d(Random& random, Dtype dtype) { return grids(random, Taste::usual, dtype); }
std::vector<Case> exotic_sinusoidal_2d(Random& random, Dtype dtype) { return grids(random, Taste::exotic, dtype); }

std::vector<Case> usual_rope(Random& random, Dtype dtype) {
  const Rope rope = draw_rope(random, Taste::usual, random.once_in(4) ? 256 : 64);
  return rotations(random, rope, rope.head_dim, 1, dtype, Taste::usual);
}
std::vector<Case> exotic_rope(Random& random, Dtype dtype) {
  const Rope rope = random.once_in(2) ? draw_rope(random, Taste::exotic, random.once_in(48) ? 8192 : 128)
                                      : draw_sharp_rope(random, 256);
  return rotations(random, rope, rope.head_dim, 1, dtype, Taste::exotic);
}
std::vector<Case> rope_tables(Random& random, Dtype dtype) {
  const Taste taste = random.of({Taste::usual, Taste::exotic});
  Rope rope = draw_rope(random, taste);
  if (stands_still(rope)) rope.rope_scaling = DefaultScaling{};
  const std::int64_t rows = draw_count(random, most_of(taste) / rope.rotary_dim);
  Case example = table_case(random, rope, dtype, draw_positions(random, rows));
  example.operation = Operation::tables;
  example.offset -= example.offset % 8;
  return {example};
}
// The same of a claim of the table alone.
std::vector<Case> usual_rotary_table(Random& random, Dtype dtype) {
  std::vector<Case> cases = rope_tables(random, dtype);
  for (Case& example : cases) {
    held<Rope>(example.spec)->positions = {};
    example.spec = recorded_claim(example.spec).value();
  }
  return cases;
}
// Of heads as models have them, at whole positions.
std::vector<Case> usual_qk_norm_rope(Random& random, Dtype dtype) {
  QkNormRope encoding;
  encoding.rope = draw_rope(random, Taste::usual, 64);
  encoding.rope.positions = {};
  encoding.rope.output_pairing = encoding.rope.pairing;
  encoding.epsilon = random.of({1e-6, 1e-5, 0x1p-20, 1e-8});
  encoding.weight_offset = random.of({0.0, 1.0});
  const std::int64_t tokens = random.between(std::int64_t{1}, std::int64_t{12});
  Case example = table_case(random, encoding, dtype, draw_positions(random, tokens, std::int64_t{1} << 40));
  example.operation = Operation::attend;
  example.tokens = tokens;
  example.heads = random.of({1, 2, 4});
  const std::int64_t heads = example.heads + key_heads_of(example);
  const ElementFormat format = element_format(dtype);
  example.elements.resize(static_cast<std::size_t>((tokens * heads + 2) * encoding.rope.head_dim));
  for (Bits& bits : example.elements) bits = draw_element(random, format, Kind::normal);
  return {example};
}
std::vector<Case> usual_rope_nd(Random& random, Dtype dtype) { return axial_rotations(random, dtype, Taste::usual); }
std::vector<Case> exotic_rope_nd(Random& random, Dtype dtype) { return axial_rotations(random, dtype, Taste::exotic); }
std::vector<Case> usual_xpos(Random& random, Dtype dtype) {
  const Xpos encoding = draw_xpos(random, Taste::usual);
  return rotations(random, encoding, encoding.rope.head_dim, 1, dtype, Taste::usual);
}
std::vector<Case> exotic_xpos(Random& random, Dtype dtype) {
  const Xpos encoding = draw_xpos(random, Taste::exotic);
  return rotations(random, encoding, encoding.rope.head_dim, 1, dtype, Taste::exotic);
}
std::vector<Case> usual_alibi(Random& random, Dtype dtype) { return biases(random, Taste::usual, dtype); }
std::vector<Case> exotic_alibi(Random& random, Dtype dtype) { return biases(random, Taste::exotic, dtype); }

std::vector<Case> usual_integer(Random& random, Dtype dtype) {
  Integer encoding;
  encoding.dim = random.of({std::int64_t{1}, random.between(1, 70)});
  encoding.normalize = random.once_in(2);
  Case example =
      table_case(random, encoding, dtype, draw_positions(random, draw_count(random, 400 / encoding.dim + 1)));
  example.spec.max_position = random.of({std::int64_t{131072}, std::int64_t{2}, random.between(2, 1000),
                                         std::max<std::int64_t>(2, std::abs(draw_position(random))), furthest});
  return {example};
}

std::vector<Case> usual_binary(Random& random, Dtype dtype) {
  Binary encoding;
  encoding.dim = random.between(1, 63);
  encoding.normalize = random.once_in(2);
  std::vector<std::int64_t> positions;
  const std::int64_t last = encoding.dim == 63 ? INT64_MAX : (std::int64_t{1} << encoding.dim) - 1;
  for (std::int64_t i = draw_count(random, 2000 / encoding.dim); i > 0; --i) {
    positions.push_back(random.of(
        {random.between(std::int64_t{0}, last), last, last / 2, std::min(last, std::abs(draw_position(random)))}));
  }
  return {table_case(random, encoding, dtype, positions)};
}

std::vector<Case> usual_learned(Random& random, Dtype dtype) {
  Learned encoding;
  encoding.dim = random.of({random.between(1, 70), random.between(500, 520)});
  encoding.max_positions = random.between(1, 40);
  std::vector<std::int64_t> positions;
  for (std::int64_t i = draw_count(random, most_elements / encoding.dim); i > 0; --i)
    positions.push_back(random.between(std::int64_t{0}, encoding.max_positions - 1));
  Case example = table_case(random, encoding, dtype, positions);
  std::int64_t rows = encoding.max_positions;
  if (random.once_in(2)) {
    example.operation = Operation::grad_weight;
    rows = std::ssize(positions);
  }
  example.elements = draw_elements(random, dtype, rows * encoding.dim);
  return {example};
}

std::vector<Case> usual_relative_bias(Random& random, Dtype dtype) {
  RelativeBias encoding;
  encoding.bidirectional = random.once_in(2);
  if (!encoding.bidirectional && random.once_in(2)) encoding.later_keys = LaterKeys::mirrored;
  encoding.num_buckets = 2 * random.of({16LL, 16LL, static_cast<long long>(random.between(2, 40))});
  encoding.max_distance = random.of({std::int64_t{128}, random.between(81, 4096), furthest});
  if (encoding.bidirectional && random.once_in(3)) {
    encoding.buckets = random.of({BucketRule::log, BucketRule::clipped});
    encoding.num_buckets = encoding.num_buckets / 4 * 4 + 8;
    if (encoding.buckets == BucketRule::clipped) encoding.max_distance = encoding.num_buckets / 2;
  }
  Case example = table_case(random, encoding, dtype, {});
  example.heads = random.between(1, 12);
  example.operation = random.once_in(3) ? Operation::grad_weight : Operation::bias;
  const std::int64_t limit = random.of({std::int64_t{200}, std::int64_t{100000}, furthest});
  example.positions = draw_positions(random, random.between(1, 12), limit);
  example.keys = draw_positions(random, draw_count(random, 200), limit);
  const auto pairs = static_cast<std::int64_t>(example.positions.size() * example.keys.size());
  example.elements = draw_elements(
      random, dtype, example.heads * (example.operation == Operation::bias ? encoding.num_buckets : pairs));
  return {example};
}

std::vector<Case> usual_attention(Random& random, Dtype dtype) {
  Attention encoding;
  encoding.num_kv_heads = random.between(1, 3);
  encoding.num_heads = encoding.num_kv_heads * random.between(1, 3);
  encoding.head_dim = 2 * random.between(1, 20);
  encoding.causal = random.once_in(2);
  // Powers of xpos leave float16 further out.
  std::int64_t last_position = std::int64_t{1} << 17;
  switch (random.between(0, 3)) {
    case 0: {
      Rope rope = draw_plain_rope(random, Taste::usual, 2);
      rope.head_dim = rope.rotary_dim = encoding.head_dim;
      encoding.position = rope;
      break;
    }
    case 1: {
      Xpos xpos;
      xpos.rope.head_dim = xpos.rope.rotary_dim = encoding.head_dim;
      if (random.once_in(2)) xpos.centre = random.of({HalfOfCall::floor, HalfOfCall::ceil});
      encoding.position = xpos;
      last_position = 1000;
      break;
    }
    case 2:
      encoding.position =
          Alibi{encoding.num_heads, encoding.causal ? Mask::causal : Mask::symmetric, AlibiForm::distance,
                random.of({AlibiSlopes::released, AlibiSlopes::geometric}), random.of({8, 16, 24, 1})};
      break;
    default: break;
  }
  if (random.once_in(2)) {
    encoding.query_scale = QueryScale{
        .amount = random.of({0.1, 1.0, 0x1p-40, 16.0, static_cast<double>(random.between(1, 1000)) / 256}),
        .period =
            random.of({8192LL, 16384LL, 1LL, 2LL, 3LL, 1LL << 53, static_cast<long long>(random.between(1, 100000))}),
        .offset = random.of({0LL, 1LL, 1LL << 20})};
    if (random.once_in(3)) {
      encoding.query_scale->rule = QueryScaleRule::log_n;
      encoding.query_scale->amount = 0;
      encoding.query_scale->length = std::max<std::int64_t>(encoding.query_scale->period, 2);
      encoding.query_scale->period = 0;
    }
  }
  Case example;
  example.spec = spec_of(encoding, dtype);
  example.operation = Operation::attend;
  example.threads = static_cast<int>(random.between(1, 3));
  example.batch = random.between(1, 2);
  example.tokens = random.of({random.between(1, 40), random.between(1, 12), random.between(1, 12),
                              random.once_in(12) ? random.between(126, 130) : 1});
  if (example.tokens > 100) example.batch = 1;
  if (encoding.position || encoding.query_scale) {
    std::int64_t first = random.between(0, 1000);
    if (encoding.query_scale) {
      // Across a border, or before and behind it.
      const std::int64_t offset = encoding.query_scale->offset;
      const std::int64_t period = encoding.query_scale->rule == QueryScaleRule::log_n ? encoding.query_scale->length
                                                                                      : encoding.query_scale->period;
      const std::int64_t most = encoding.position ? last_position : std::int64_t{1} << 52;
      const std::int64_t border = period > most ? 0 : random.between(1, std::max<std::int64_t>(most / period, 1));
      first = std::clamp<std::int64_t>(border * period - offset - random.between(0, example.tokens), 0, most);
    }
    for (std::int64_t i = 0; i < example.batch * example.tokens; ++i)
      example.positions.push_back(first + i % example.tokens);
  }
  const ElementFormat format = element_format(dtype);
  example.elements.resize(static_cast<std::size_t>(example.batch * (encoding.num_heads + 2 * encoding.num_kv_heads) *
                                                   example.tokens * encoding.head_dim));
  for (Bits& bits : example.elements) bits = draw_element(random, format, Kind::normal);
  return {example};
}

}  // namespace sextant::attack
