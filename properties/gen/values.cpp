#include "properties/gen/values.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <span>
#include <utility>

#include "properties/gen/floats.hpp"

// Target-independent, so declared before the file is taken once per target.
#ifndef SEXTANT_PROPERTIES_GEN_VALUES_AT_ONCE
#define SEXTANT_PROPERTIES_GEN_VALUES_AT_ONCE
namespace sextant::gen {
constexpr std::int64_t values_at_once = 1024;  // a multiple of any target's lanes
}
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "properties/gen/values.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sextant::gen::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// What `value_of(mix(start + i))` is for the elements below `count` and those that end its last vector, the same bits:
// inputs are a third of what a fast subject's audit costs. A word modulo 9 is that of its digits' sum in base 2^30, as
// 2^30 = 64^5 = 1 modulo 9; the sum is below 2^31 + 2^4, of which the quotient by 9 is the product with ceil(2^35/9)
// over 2^35 (its error, 4/9 of sum/2^35, is below 1/9).
void ValuesOf(std::uint64_t start, std::int64_t count, double* HWY_RESTRICT to) {
  const hn::CappedTag<std::uint64_t, 8> d;
  const hn::RebindToSigned<decltype(d)> signed_tag;
  const hn::RebindToFloat<decltype(d)> float_tag;
  const auto digit = hn::Set(d, (std::uint64_t{1} << 30) - 1);
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); i += hn::Lanes(d)) {
    auto z = hn::Iota(d, start + i + 0x9E3779B97F4A7C15U);
    z = hn::Mul(hn::Xor(z, hn::ShiftRight<30>(z)), hn::Set(d, 0xBF58476D1CE4E5B9U));
    z = hn::Mul(hn::Xor(z, hn::ShiftRight<27>(z)), hn::Set(d, 0x94D049BB133111EBU));
    z = hn::Xor(z, hn::ShiftRight<31>(z));
    const auto sum = hn::Add(hn::Add(hn::And(z, digit), hn::And(hn::ShiftRight<30>(z), digit)), hn::ShiftRight<60>(z));
    const auto ninth = hn::ShiftRight<35>(hn::Mul(sum, hn::Set(d, ((std::uint64_t{1} << 35) + 8) / 9)));
    const auto rest = hn::Sub(sum, hn::Add(hn::ShiftLeft<3>(ninth), ninth));
    const auto scale = hn::BitCast(float_tag, hn::ShiftLeft<52>(hn::Add(rest, hn::Set(d, 1023 - 4 - 52))));
    const auto from_one = hn::Set(signed_tag, std::int64_t{1} << 52);
    const auto steps = hn::Sub(hn::BitCast(signed_tag, hn::ShiftRight<11>(z)), from_one);
    hn::StoreU(hn::Mul(hn::ConvertTo(float_tag, steps), scale), float_tag, to + i);
  }
}

}  // namespace sextant::gen::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::gen {
namespace {

HWY_EXPORT(ValuesOf);

// Steele, Lea, Flood 2014, "Fast splittable pseudorandom number generators": the SplitMix64 finaliser.
std::uint64_t mix(std::uint64_t z) {
  z += 0x9E3779B97F4A7C15U;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31);
}

// Of the word that belongs to an element.
double value_of(std::uint64_t bits) {
  constexpr std::array scales{0x1p-4, 0x1p-3, 0x1p-2, 0x1p-1, 0x1p0, 0x1p1, 0x1p2, 0x1p3, 0x1p4};
  return (static_cast<double>(bits >> 11) * 0x1p-52 - 1) * scales[bits % scales.size()];
}

// Of values whose pair is small beside it and still rounds as normal numbers do, where a format has the room.
int least_exponent(Dtype dtype) {
  const Format format = format_of(dtype);
  return std::min(format.min_exponent + format.precision + 10, format.max_exponent - 6);
}

}  // namespace

std::uint64_t word(std::int64_t fill, std::int64_t index) {
  return mix(mix(static_cast<std::uint64_t>(fill)) + static_cast<std::uint64_t>(index));
}

double value(std::int64_t fill, std::int64_t index) { return value_of(word(fill, index)); }

Tensor values(Dtype dtype, std::vector<std::int64_t> shape, std::int64_t fill) {
  Tensor tensor = Tensor::zeros(dtype, std::move(shape));
  const std::uint64_t start = mix(static_cast<std::uint64_t>(fill));
  std::array<double, values_at_once> block;
  std::array<float, values_at_once> singles;
  const std::int64_t count = tensor.elements();
  for (std::int64_t first = 0; first < count; first += values_at_once) {
    const std::int64_t here = std::min(values_at_once, count - first);
    HWY_DYNAMIC_DISPATCH(ValuesOf)(start + static_cast<std::uint64_t>(first), here, block.data());
    const std::span<const double> drawn(block.data(), static_cast<std::size_t>(here));
    std::byte* const to = tensor.data.data() + first * static_cast<std::int64_t>(size_of(dtype));
    switch (dtype) {
      case Dtype::float64: std::memcpy(to, drawn.data(), drawn.size_bytes()); break;
      case Dtype::float32:
        std::transform(drawn.begin(), drawn.end(), singles.begin(), [](double v) { return static_cast<float>(v); });
        std::memcpy(to, singles.data(), drawn.size() * sizeof(float));
        break;
      default:
        for (std::int64_t i = 0; i < here; ++i) tensor.set(first + i, drawn[static_cast<std::size_t>(i)]);
    }
  }
  return tensor;
}

Tensor values_of_every_magnitude(Dtype dtype, std::vector<std::int64_t> shape, std::int64_t fill, double most) {
  constexpr std::array classes{FloatClass::zero, FloatClass::huge, FloatClass::normal, FloatClass::beside_power_of_two};
  const double least = std::ldexp(1.0, least_exponent(dtype));
  Tensor tensor = Tensor::zeros(dtype, std::move(shape));
  for (std::int64_t i = 0; i < tensor.elements(); ++i) {
    const std::uint64_t which = word(fill, i);
    const double drawn = from_bits(dtype, float_in(dtype, classes[which % classes.size()], word(fill + 1, i)));
    tensor.set(i, drawn == 0 ? drawn : std::copysign(std::clamp(std::fabs(drawn), least, most), drawn));
  }
  return tensor;
}

Tensor rows_of_every_magnitude(Dtype dtype, std::vector<std::int64_t> shape, std::int64_t fill, double most) {
  const std::int64_t rows = shape[0] * shape[1];
  Tensor tensor = Tensor::zeros(dtype, std::move(shape));
  const std::int64_t columns = rows > 0 ? tensor.elements() / rows : 0;
  const int least = least_exponent(dtype);
  const std::int64_t exponents = std::ilogb(most) - least;  // below that of `most`, which a mantissa would exceed
  for (std::int64_t i = 0; i < tensor.elements(); ++i) {
    const std::int64_t row = i / columns;
    const auto exponent = least + static_cast<int>(rows > 1 ? row * (exponents - 1) / (rows - 1) : 0);
    const std::uint64_t bits = word(fill, i);
    const double mantissa = 1 + static_cast<double>(bits >> 12) * 0x1p-52;
    tensor.set(i, std::ldexp(bits % 2 == 0 ? mantissa : -mantissa, exponent));
  }
  return tensor;
}

}  // namespace sextant::gen
#endif
