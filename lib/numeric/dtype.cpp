#include "lib/numeric/dtype.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>

namespace sextant {
namespace {

constexpr std::array<std::string_view, 5> names{"float64", "float32", "float16", "bfloat16", "int64"};

// float16 and bfloat16 share one layout: a sign bit, the biased exponent, precision - 1 fraction bits. The biased
// exponent of a normal number is e - min_exponent + 1, and 0 for subnormals, so that a carry out of the fraction
// steps into the next binade by itself.
constexpr int double_fraction_bits = 52;
constexpr int double_bias = 1023;

// The dtype is the template's, so that its shifts and masks are constants.
template <Dtype dtype>
constexpr int fraction_bits_of = format_of(dtype).precision - 1;

// From the exponent of a double to the biased one of the dtype, in units of the dtype's exponent field.
template <Dtype dtype>
constexpr std::uint64_t rebias = static_cast<std::uint64_t>(double_bias - 1 + format_of(dtype).min_exponent)
                                 << fraction_bits_of<dtype>;

// The magnitude's bits in units of the dtype's last place, rounded to nearest, ties to even, where it is at least the
// dtype's least normal number and at most its largest.
template <Dtype dtype>
std::optional<std::uint64_t> rounded_normal(double value) {
  constexpr Format format = format_of(dtype);
  constexpr int shift = double_fraction_bits - fraction_bits_of<dtype>;
  constexpr std::uint64_t implied = std::uint64_t{1} << double_fraction_bits;
  constexpr std::uint64_t least = static_cast<std::uint64_t>(format.min_exponent + double_bias) << double_fraction_bits;
  constexpr std::uint64_t largest =
      (static_cast<std::uint64_t>(format.max_exponent + double_bias) << double_fraction_bits) + implied -
      (std::uint64_t{1} << shift);
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(value) << 1 >> 1;
  if (bits < least || bits > largest) return std::nullopt;
  const std::uint64_t is_odd = (bits >> shift) & 1;
  return (bits + (std::uint64_t{1} << (shift - 1)) - 1 + is_odd) >> shift;
}

template <Dtype dtype>
std::uint16_t bits16(double value) {
  constexpr Format format = format_of(dtype);
  constexpr int fraction_bits = fraction_bits_of<dtype>;
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000U : 0U);
  if (const auto normal = rounded_normal<dtype>(value))
    return static_cast<std::uint16_t>(sign | (*normal - rebias<dtype>));
  constexpr auto infinity =
      static_cast<std::uint16_t>((format.max_exponent - format.min_exponent + 2) << fraction_bits);
  if (std::isnan(value)) return static_cast<std::uint16_t>(sign | infinity | (1U << (fraction_bits - 1)));
  if (std::isinf(value)) return static_cast<std::uint16_t>(sign | infinity);

  const auto bits = std::bit_cast<std::uint64_t>(std::fabs(value));
  const int exponent = static_cast<int>(bits >> double_fraction_bits) - double_bias;
  constexpr std::uint64_t implied = std::uint64_t{1} << double_fraction_bits;
  const std::uint64_t fraction = bits & (implied - 1);
  const bool is_normal = exponent >= format.min_exponent;
  // The result in units of the double's own last place, which a shift then rounds: to nearest, ties to even.
  const std::uint64_t fine =
      is_normal ? (static_cast<std::uint64_t>(exponent - format.min_exponent + 1) << double_fraction_bits) + fraction
                : implied + fraction;
  const int shift = double_fraction_bits - fraction_bits + (is_normal ? 0 : format.min_exponent - exponent);
  // Less than half of the least value; a double's subnormals, and zero, are far below.
  if (shift > double_fraction_bits + 1) return sign;
  const std::uint64_t is_odd = (fine >> shift) & 1;
  const std::uint64_t rounded = (fine + (std::uint64_t{1} << (shift - 1)) - 1 + is_odd) >> shift;
  return static_cast<std::uint16_t>(sign | std::min<std::uint64_t>(rounded, infinity));
}

// 2^exponent, for exponents of normal doubles.
double power_of_two(int exponent) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + double_bias) << double_fraction_bits);
}

template <Dtype dtype>
double value16(std::uint16_t bits) {
  constexpr Format format = format_of(dtype);
  constexpr int fraction_bits = fraction_bits_of<dtype>;
  const int biased = (bits & 0x7FFF) >> fraction_bits;
  const int fraction = bits & ((1 << fraction_bits) - 1);
  double magnitude = 0;
  if (biased == format.max_exponent - format.min_exponent + 2) {
    magnitude = fraction == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  } else if (biased == 0) {
    magnitude = fraction * power_of_two(format.min_exponent - fraction_bits);
  } else {
    magnitude = std::bit_cast<double>(((bits & 0x7FFF) + rebias<dtype>) << (double_fraction_bits - fraction_bits));
  }
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

// The same as from its bits and back.
template <Dtype dtype>
double rounded16(double value) {
  const auto normal = rounded_normal<dtype>(value);
  if (!normal) return value16<dtype>(bits16<dtype>(value));
  return std::copysign(std::bit_cast<double>(*normal << (double_fraction_bits - fraction_bits_of<dtype>)), value);
}

template <class T>
T read(const std::byte* source) {
  T value;
  std::memcpy(&value, source, sizeof value);
  return value;
}

template <class T>
void write(T value, std::byte* destination) {
  std::memcpy(destination, &value, sizeof value);
}

}  // namespace

void refuse_int64(const char* function) {
  throw std::invalid_argument(std::string(function) + ": int64 is not a floating dtype");
}

std::string_view name_of(Dtype dtype) {
  const auto index = static_cast<std::size_t>(dtype);
  if (index >= names.size())
    throw std::invalid_argument("name_of: " + std::to_string(static_cast<int>(dtype)) + " is no dtype");
  return names[index];
}

std::optional<Dtype> dtype_named(std::string_view name) {
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) return std::nullopt;
  return static_cast<Dtype>(found - names.begin());
}

double largest_finite(Dtype dtype) {
  const Format format = format_of(dtype);
  return (2.0 - power_of_two(1 - format.precision)) * power_of_two(format.max_exponent);
}

double round_to(Dtype dtype, double value) {
  switch (dtype) {
    case Dtype::float64: return value;
    case Dtype::float32: return static_cast<double>(static_cast<float>(value));
    case Dtype::float16: return rounded16<Dtype::float16>(value);
    case Dtype::bfloat16: return rounded16<Dtype::bfloat16>(value);
    case Dtype::int64: break;
  }
  refuse_int64("round_to");
}

double load(Dtype dtype, const std::byte* source) {
  switch (dtype) {
    case Dtype::float64: return read<double>(source);
    case Dtype::float32: return static_cast<double>(read<float>(source));
    case Dtype::float16: return value16<Dtype::float16>(read<std::uint16_t>(source));
    case Dtype::bfloat16: return value16<Dtype::bfloat16>(read<std::uint16_t>(source));
    case Dtype::int64: break;
  }
  refuse_int64("load");
}

void store(Dtype dtype, double value, std::byte* destination) {
  switch (dtype) {
    case Dtype::float64: return write(value, destination);
    case Dtype::float32: return write(static_cast<float>(value), destination);
    case Dtype::float16: return write(bits16<Dtype::float16>(value), destination);
    case Dtype::bfloat16: return write(bits16<Dtype::bfloat16>(value), destination);
    case Dtype::int64: break;
  }
  refuse_int64("store");
}

}  // namespace sextant
