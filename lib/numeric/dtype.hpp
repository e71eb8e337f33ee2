#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace sextant {

/// The element types of every tensor. `int64` is the type of positions; the others are those of encodings.
enum class Dtype { float64, float32, float16, bfloat16, int64 };

/// A binary floating-point format in the terms of IEEE 754-2019, section 3.3: significands of `precision` bits,
/// normal numbers 1.f * 2^e with min_exponent <= e <= max_exponent.
struct Format {
  int precision;
  int min_exponent;
  int max_exponent;
};

/// Refuses int64 where a floating dtype is needed. @throws std::invalid_argument naming the function, always.
[[noreturn]] void refuse_int64(const char* function);

/// The format of a floating dtype. bfloat16 is the upper half of a float32.
/// @throws std::invalid_argument for int64.
constexpr Format format_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::float64: return {53, -1022, 1023};
    case Dtype::float32: return {24, -126, 127};
    case Dtype::float16: return {11, -14, 15};
    case Dtype::bfloat16: return {8, -126, 127};
    case Dtype::int64: break;
  }
  refuse_int64("format_of");
}

/// The name that specs and workers use: "float32", "bfloat16", ...
std::string_view name_of(Dtype dtype);

/// The inverse of name_of; nothing for a name that is none of them.
std::optional<Dtype> dtype_named(std::string_view name);

/// Bytes of one element.
constexpr std::size_t size_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::float16:
    case Dtype::bfloat16: return 2;
    case Dtype::float32: return 4;
    case Dtype::float64:
    case Dtype::int64: break;
  }
  return 8;
}

/// Unit roundoff u = 2^-precision: |round(x) - x| <= u |x| for x in the normal range.
/// @throws std::invalid_argument for int64.
constexpr double unit_roundoff(Dtype dtype) {
  return 1 / static_cast<double>(std::uint64_t{1} << format_of(dtype).precision);
}

/// Whether it is float16 or bfloat16.
constexpr bool is_16_bit(Dtype dtype) { return dtype == Dtype::float16 || dtype == Dtype::bfloat16; }

/// The largest finite value of a floating dtype.
double largest_finite(Dtype dtype);

/// The value of the format nearest to `value`, ties to even, by IEEE 754-2019 section 4.3.1: overflow gives an
/// infinity, subnormals are kept, the sign of zero too. Correct for every double, with one rounding only.
double round_to(Dtype dtype, double value);

/// Reads one element at `source` (any alignment). Exact: each floating dtype is a subset of double.
/// @throws std::invalid_argument for int64, which does not fit a double.
double load(Dtype dtype, const std::byte* source);

/// Writes round_to(dtype, value) at `destination` (any alignment). NaN becomes a quiet NaN.
/// @throws std::invalid_argument for int64.
void store(Dtype dtype, double value, std::byte* destination);

}  // namespace sextant
