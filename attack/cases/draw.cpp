#include "attack/cases/draw.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sextant::attack {

std::int64_t draw_width(Random& random, std::int64_t most) {
  std::int64_t width = 2;
  switch (random.between(0, 3)) {
    case 0: width = 2 * random.between(1, 24); break;
    case 1: width = std::int64_t{1} << random.between(1, 13); break;
    case 2: width = random.of({16, 32, 64, 128, 256, 512, 1024}) + 2 * random.between(-2, 2); break;
    default: width = 2 * static_cast<std::int64_t>(random.of_magnitude(1, static_cast<double>(most) / 2)); break;
  }
  return std::clamp<std::int64_t>(width, 2, most);
}

std::int64_t draw_position(Random& random, std::int64_t limit) {
  std::int64_t position = 0;
  switch (random.between(0, 5)) {
    case 0: position = random.between(-16, 200); break;
    case 1: position = random.between(0, 131072); break;
    case 2: position = (std::int64_t{1} << random.between(0, 54)) + random.between(-2, 2); break;
    case 3: position = limit - (random.once_in(2) ? 0 : random.between(0, 200)); break;
    case 4: position = static_cast<std::int64_t>(random.of_magnitude(1, static_cast<double>(limit))); break;
    default: position = random.between(-limit, limit); break;
  }
  if (random.once_in(4)) position = -position;
  return std::clamp(position, -limit, limit);
}

std::vector<std::int64_t> draw_positions(Random& random, std::int64_t count, std::int64_t limit) {
  std::vector<std::int64_t> list(static_cast<std::size_t>(count));
  const std::int64_t first = draw_position(random, limit);
  const std::int64_t step = random.of({1, 1, 1, 2, 3, 16, 63, 127, 1000, -1, -1, -2, -127, 0});
  switch (random.between(0, 4)) {
    case 0:
    case 1:
    case 2:
      for (std::int64_t i = 0; i < count; ++i)
        list[static_cast<std::size_t>(i)] = std::clamp(first + i * step, -limit, limit);
      break;
    case 3:
      // A few of a block, in any order.
      for (std::int64_t& position : list) position = std::clamp(first + random.between(-3, 140), -limit, limit);
      break;
    default:
      for (std::int64_t& position : list) position = draw_position(random, limit);
      break;
  }
  return list;
}

std::int64_t draw_count(Random& random, std::int64_t most) {
  const std::int64_t block = random.of({1, 1, 2, 4, 8, 16}) * random.of({64, 127, 127});
  const std::int64_t count =
      random.of({random.between(1, 8), random.between(1, 8), random.between(62, 66), random.between(126, 130),
                 block + random.between(-1, 1), random.between(1000, 3000)});
  return std::clamp<std::int64_t>(count, 1, std::max<std::int64_t>(most, 1));
}

double draw_base(Random& random, Taste taste) {
  if (taste == Taste::usual) return random.of({10000.0, 10000.0, 500000.0, 1e6, random.of_magnitude(2, 1e7)});
  // Frequencies of 1e-60 and less take each sine to the last tier, which is slow: seldom.
  if (random.once_in(12)) return random.of({1.7e308, random.of_magnitude(1e60, 1e300), 0x1p1023});
  return random.of(
      {1.0, 1 + 0x1p-52, random.beside(1.5, 8), 2.0, random.of_magnitude(1, 16), 1e30, random.of_magnitude(1, 1e40)});
}

Sinusoidal draw_sinusoidal(Random& random, Taste taste, std::int64_t most_width) {
  Sinusoidal encoding;
  encoding.dim = draw_width(random, most_width);
  encoding.base = draw_base(random, random.once_in(2) ? taste : Taste::usual);
  encoding.layout = random.of({Layout::interleaved, Layout::concatenated});
  encoding.first = random.of({First::sin, First::cos});
  if (encoding.layout == Layout::concatenated && random.once_in(4)) ++encoding.dim;
  if (random.once_in(3))
    encoding.downscale_freq_shift = random.of({std::int64_t{1}, random.between(std::int64_t{0}, encoding.dim / 2 - 1)});
  if (random.once_in(4))
    encoding.angle_scale = random.of({1000.0, 0x1p20, 0x1p-20, 0.5, random.of_magnitude(0x1p-20, 0x1p20)});
  encoding.positions = draw_grid(random);
  if (encoding.positions.dtype == Dtype::int64 && random.once_in(4)) encoding.position_offset = draw_position(random);
  keep_in_domain(encoding);
  if (random.once_in(3)) encoding.scale = random.sign() * random.of_magnitude(0x1p-6, 0x1p6);
  if (taste == Taste::exotic && random.once_in(2)) encoding.scale = random.sign() * random.of_magnitude(1e-300, 1e300);
  return encoding;
}

PositionGrid draw_grid(Random& random) {
  if (!random.once_in(3)) return {};
  const auto exponent = random.of({std::int64_t{0}, std::int64_t{7}, std::int64_t{40}, random.between(0, 40)});
  return {std::ldexp(1.0, -static_cast<int>(exponent)), random.of({Dtype::float32, Dtype::float64})};
}

void keep_in_domain(Sinusoidal& encoding) {
  if (encoding.layout == Layout::interleaved) encoding.dim -= encoding.dim % 2;
  // No frequency below 2^-1024.
  const std::int64_t last = encoding.dim / 2 - 1;
  const double exponent = std::log2(encoding.base) * static_cast<double>(last) / 1024;
  const auto timescales = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(exponent)));
  encoding.downscale_freq_shift = std::min(encoding.downscale_freq_shift, last + 1 - timescales);
}

Rope draw_plain_rope(Random& random, Taste taste, std::int64_t most_width) {
  Rope rope;
  rope.head_dim = draw_width(random, most_width);
  rope.rotary_dim = random.once_in(4) ? 2 * random.between(1, rope.head_dim / 2) : rope.head_dim;
  rope.rope_theta = draw_base(random, taste);
  rope.pairing = random.of({Pairing::interleaved, Pairing::half});
  rope.output_pairing = random.once_in(4) ? random.of({Pairing::interleaved, Pairing::half}) : rope.pairing;
  rope.rotary_layout = RotaryLayout::prefix;
  if (random.once_in(3)) rope.rotary_layout = random.of({RotaryLayout::spread, RotaryLayout::suffix});
  rope.direction = random.of({Direction::counterclockwise, Direction::clockwise});
  return rope;
}

Xpos draw_xpos(Random& random, Taste taste) {
  Xpos encoding;
  encoding.rope = draw_plain_rope(random, taste);
  encoding.role = random.of({Role::query, Role::key});
  encoding.scale_base = random.once_in(2) ? 512 : random.of_magnitude(0.1, 1e6);
  if (taste == Taste::exotic)
    encoding.scale_base =
        random.of({random.of_magnitude(1e-300, 1e300), random.beside(1), random.of_magnitude(0.2, 2), 1e18});
  switch (random.between(0, 5)) {
    case 0: encoding.centre = random.between(-2000, 2000); break;
    case 1: encoding.centre = random.of({HalfOfCall::floor, HalfOfCall::ceil}); break;
    case 2:
      // The ends of what the kernels tell exactly.
      if (taste == Taste::exotic)
        encoding.centre = random.of({furthest, -furthest, furthest - random.between(0, 40), furthest / 2});
      break;
    default: break;
  }
  return encoding;
}

Kind draw_kind(Random& random) {
  return random.of({Kind::normal, Kind::normal, Kind::normal, Kind::powers, Kind::any_finite, Kind::any_finite,
                    Kind::zeros, Kind::specials, Kind::subnormal, Kind::largest});
}

Bits draw_element(Random& random, const ElementFormat& format, Kind kind) {
  const Bits sign = random.once_in(2) ? format.sign() : 0;
  const Bits fraction = random.bits() & ((Bits{1} << format.stored()) - 1);
  const auto with_exponent = [&](std::int64_t exponent) {
    return sign | ((static_cast<Bits>(exponent - format.least + 1) << format.stored()) + fraction);
  };
  switch (kind) {
    case Kind::normal: return with_exponent(random.between(-4, 1));
    case Kind::powers:
      return with_exponent(random.between(format.least, format.greatest())) & ~((Bits{1} << format.stored()) - 1);
    case Kind::any_finite: return sign | (random.bits() % format.infinity());
    case Kind::zeros: return random.once_in(4) ? with_exponent(0) : sign;
    case Kind::specials:
      switch (random.between(0, 7)) {
        case 0: return sign | format.infinity();
        case 1: return sign | format.quiet_nan();
        case 2: return sign | format.infinity() | std::max<Bits>(fraction, 1);
        case 3: return sign;
        default: return with_exponent(0);
      }
    case Kind::subnormal:
      return random.once_in(2) ? sign | fraction : with_exponent(format.least + random.between(0, 3));
    case Kind::largest:
      return random.once_in(2) ? sign | (format.largest() - random.bits() % 4)
                               : with_exponent(format.greatest() - random.between(0, 2));
  }
  return 0;
}

std::vector<Bits> draw_elements(Random& random, Dtype dtype, std::int64_t count) {
  const ElementFormat format = element_format(dtype);
  const Kind kind = draw_kind(random);
  std::vector<Bits> list(static_cast<std::size_t>(count));
  for (Bits& bits : list) bits = draw_element(random, format, random.once_in(64) ? draw_kind(random) : kind);
  return list;
}

Spec spec_of(const Encoding& encoding, Dtype dtype) {
  Spec spec;
  spec.encoding = encoding;
  spec.dtype = dtype;
  // Encodings of so many positions claim no others; what a spec claims matters to `integer` alone.
  if (position_bounds_of(encoding)) spec.max_position = 1;
  return spec;
}

namespace {

void draw_memory(Random& random, Case& example) {
  example.threads = static_cast<int>(random.of({1, 1, 2, 3}));
  example.offset = random.once_in(2) ? 0 : random.between(0, 63);
  example.gap = random.once_in(3) ? random.between(1, 40) : 0;
}

}  // namespace

Case table_case(Random& random, const Encoding& encoding, Dtype dtype, std::vector<std::int64_t> positions) {
  Case example;
  example.spec = spec_of(encoding, dtype);
  example.operation = Operation::encode_list;
  example.positions = std::move(positions);
  draw_memory(random, example);
  return example;
}

Case range_case(Random& random, const Sinusoidal& encoding, Dtype dtype, const Range& range) {
  Case example = table_case(random, encoding, dtype, {});
  example.operation = Operation::encode_range;
  example.range = range;
  return example;
}

Case rotation_case(Random& random, const Encoding& encoding, Dtype dtype, std::vector<std::int64_t> positions,
                   std::int64_t heads) {
  Case example;
  example.spec = spec_of(encoding, dtype);
  example.operation = random.once_in(3) ? Operation::backward : Operation::rotate;
  example.tokens = std::ssize(positions);
  // Rows of a batch share the positions that were drawn, where they can be dealt out.
  const std::int64_t batch = random.once_in(3) ? random.between(2, 5) : 1;
  if (example.tokens % batch == 0) {
    example.batch = batch;
    example.tokens /= batch;
  }
  example.heads = heads;
  example.positions = std::move(positions);
  draw_memory(random, example);
  example.place = random.of({Place::apart, Place::in_place, Place::dense});
  if (example.place != Place::dense) {
    example.offset -= example.offset % (element_format(dtype).width / 8);
    example.stride_order = static_cast<int>(random.between(0, 5));
  }
  return example;
}

std::int64_t elements_of_rotation(const Case& example, std::int64_t head_dim) {
  return example.batch * example.tokens * example.heads * head_dim;
}

}  // namespace sextant::attack
