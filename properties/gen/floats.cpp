#include "properties/gen/floats.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "properties/gen/draw.hpp"

namespace sextant::gen {
namespace {

// The fields of a pattern, IEEE 754-2019, section 3.4. The biased exponent is 0 for zeros and subnormals, all ones for
// infinities and NaN.
struct Fields {
  std::uint64_t sign;
  std::uint64_t exponent;
  std::uint64_t significand;
};

struct Layout {
  int width;
  int significand_bits;
  std::uint64_t exponent_ones;
  std::uint64_t significand_ones;
  std::uint64_t exponent_of_one;

  explicit Layout(Dtype dtype) {
    const Format format = format_of(dtype);
    width = 8 * static_cast<int>(size_of(dtype));
    significand_bits = format.precision - 1;
    exponent_ones = (std::uint64_t{1} << (width - format.precision)) - 1;
    significand_ones = (std::uint64_t{1} << significand_bits) - 1;
    exponent_of_one = exponent_ones / 2;
  }

  Fields split(std::uint64_t word) const {
    return {word >> (width - 1), (word >> significand_bits) & exponent_ones, word & significand_ones};
  }
  std::uint64_t join(const Fields& fields) const {
    return (fields.sign << (width - 1)) | (fields.exponent << significand_bits) | fields.significand;
  }
};

// Between a dtype's own pattern and the number in a case.
int dropped_bits(Dtype dtype) { return dtype == Dtype::float64 ? 1 : 0; }
std::uint64_t word_of(Dtype dtype, std::int64_t bits) {
  return static_cast<std::uint64_t>(bits) << dropped_bits(dtype);
}
std::int64_t bits_of(Dtype dtype, std::uint64_t word) { return static_cast<std::int64_t>(word >> dropped_bits(dtype)); }

// Less is simpler: 0, then finite values, infinities, NaN; no sign; few significand bits; an exponent near that of 1.
std::tuple<int, std::uint64_t, int, std::uint64_t> complexity(const Layout& layout, std::uint64_t word) {
  const Fields fields = layout.split(word);
  const bool special = fields.exponent == layout.exponent_ones;
  const int kind = word == 0 ? 0 : !special ? 1 : fields.significand == 0 ? 2 : 3;
  const std::uint64_t distance = fields.exponent > layout.exponent_of_one ? fields.exponent - layout.exponent_of_one
                                                                          : layout.exponent_of_one - fields.exponent;
  return {kind, fields.sign, std::popcount(fields.significand), distance};
}

}  // namespace

std::string_view name_of(FloatClass float_class) {
  switch (float_class) {
    case FloatClass::zero: return "zero";
    case FloatClass::subnormal: return "subnormal";
    case FloatClass::normal: return "normal";
    case FloatClass::huge: return "huge";
    case FloatClass::infinite: return "infinite";
    case FloatClass::nan: return "nan";
    case FloatClass::beside_power_of_two: return "beside_power_of_two";
    case FloatClass::any_bits: return "any_bits";
  }
  throw std::invalid_argument("name_of: no such class");
}

std::int64_t bit_patterns(Dtype dtype) {
  const int bits = Layout(dtype).width - dropped_bits(dtype);
  return bits == 63 ? std::numeric_limits<std::int64_t>::max() : std::int64_t{1} << bits;
}

double from_bits(Dtype dtype, std::int64_t bits) {
  const std::uint64_t word = word_of(dtype, bits);
  std::array<std::byte, sizeof word> bytes{};
  static_assert(std::endian::native == std::endian::little);
  std::memcpy(bytes.data(), &word, sizeof word);
  return load(dtype, bytes.data());
}

std::int64_t to_bits(Dtype dtype, double value) {
  std::uint64_t word = 0;
  std::array<std::byte, sizeof word> bytes{};
  store(dtype, value, bytes.data());
  std::memcpy(&word, bytes.data(), sizeof word);
  return bits_of(dtype, word);
}

std::int64_t float_in(Dtype dtype, FloatClass float_class, std::uint64_t word) {
  const Layout layout(dtype);
  // The sign from the top, the significand from the bottom, the exponent from between: bits that do not meet.
  Fields fields{word >> 63, 0, word & layout.significand_ones};
  const std::uint64_t between = (word >> 52) & 0x7FF;
  switch (float_class) {
    case FloatClass::zero: fields.significand = 0; break;
    case FloatClass::subnormal: fields.significand |= 2; break;  // not the last bit, which a float64's pattern lacks
    case FloatClass::normal: fields.exponent = 1 + between % (layout.exponent_ones - 1); break;
    case FloatClass::huge: fields.exponent = layout.exponent_ones - 3 - between % 4; break;
    case FloatClass::infinite: fields = {fields.sign, layout.exponent_ones, 0}; break;
    case FloatClass::nan:
      fields = {fields.sign, layout.exponent_ones, fields.significand | (layout.significand_ones / 2 + 1)};
      break;
    case FloatClass::beside_power_of_two: {
      fields = {0, 2 + between % (layout.exponent_ones - 4), 0};
      const std::uint64_t step = std::uint64_t{1} << dropped_bits(dtype);
      const std::uint64_t beside = layout.join(fields) + (word % 3) * step - step;
      return bits_of(dtype, beside | ((word >> 63) << (layout.width - 1)));
    }
    case FloatClass::any_bits: return bits_of(dtype, word >> (64 - layout.width));
  }
  return bits_of(dtype, layout.join(fields));
}

rc::Gen<std::int64_t> float_bits(Dtype dtype, std::vector<FloatClass> classes) {
  // Raw words, since RapidCheck's integer generators favour small values at small sizes.
  const auto word = rc::gen::inRange<std::uint64_t>(0, std::numeric_limits<std::uint64_t>::max());
  return gen::map(gen::pair(word, word),
                  [dtype, classes = std::move(classes)](const std::pair<std::uint64_t, std::uint64_t>& words) {
                    return float_in(dtype, classes[words.first % classes.size()], words.second);
                  });
}

rc::Seq<std::int64_t> simpler_bits(Dtype dtype, std::int64_t bits) {
  const Layout layout(dtype);
  const std::uint64_t word = word_of(dtype, bits);
  const Fields fields = layout.split(word);
  std::vector<Fields> candidates{{0, 0, 0}, {0, layout.exponent_of_one, 0}};
  if (fields.exponent == layout.exponent_ones) {
    candidates.push_back({0, layout.exponent_ones - 1, layout.significand_ones});
    if (fields.significand != 0) candidates.push_back({0, layout.exponent_ones, layout.significand_ones / 2 + 1});
  }
  candidates.push_back({0, fields.exponent, fields.significand});
  const bool is_nan = fields.exponent == layout.exponent_ones && fields.significand != 0;
  if (!is_nan) {
    candidates.push_back({fields.sign, fields.exponent, 0});
    // The upper half of the significand's bits, then all but the last that is set.
    candidates.push_back({fields.sign, fields.exponent,
                          fields.significand & ~((std::uint64_t{1} << (layout.significand_bits / 2)) - 1)});
    candidates.push_back({fields.sign, fields.exponent, fields.significand & (fields.significand - 1)});
  }
  if (fields.exponent != layout.exponent_ones) {
    // Half of the way to the exponent of 1, and one step.
    const auto distance =
        static_cast<std::int64_t>(fields.exponent) - static_cast<std::int64_t>(layout.exponent_of_one);
    for (const std::int64_t kept : {distance / 2, distance - (distance > 0 ? 1 : -1)}) {
      candidates.push_back({fields.sign,
                            static_cast<std::uint64_t>(static_cast<std::int64_t>(layout.exponent_of_one) + kept),
                            fields.significand});
    }
  }
  std::vector<std::int64_t> simpler;
  for (const Fields& candidate : candidates) {
    const std::uint64_t other = layout.join(candidate);
    if (complexity(layout, other) < complexity(layout, word)) simpler.push_back(bits_of(dtype, other));
  }
  return rc::seq::fromContainer(std::move(simpler));
}

}  // namespace sextant::gen
