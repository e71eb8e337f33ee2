#pragma once

#include <rapidcheck.h>

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "lib/numeric/dtype.hpp"

namespace sextant::gen {

/// Where floating-point code goes wrong, each class about as likely as the others:
///   - zero, of either sign,
///   - subnormal,
///   - normal: any normal exponent and significand,
///   - huge: 2^-2 to 2^-6 of the largest value, so that a rotation does not overflow and a square does,
///   - infinite, nan,
///   - beside_power_of_two: 2^k, the value before it and the value after it,
///   - any_bits: all bit patterns alike.
enum class FloatClass { zero, subnormal, normal, huge, infinite, nan, beside_power_of_two, any_bits };

inline constexpr std::array every_float_class{
    FloatClass::zero, FloatClass::subnormal,           FloatClass::normal,  FloatClass::huge, FloatClass::infinite,
    FloatClass::nan,  FloatClass::beside_power_of_two, FloatClass::any_bits};

/// "zero", "beside_power_of_two", ...
std::string_view name_of(FloatClass float_class);

// A value in a case is its bit pattern in the dtype as a whole number; of a float64 without the last bit of the
// significand, to fit.

/// How many patterns there are: 2^16, 2^32, 2^63.
std::int64_t bit_patterns(Dtype dtype);

/// The value of a pattern, 0 <= bits < bit_patterns(dtype). @throws std::invalid_argument for int64.
double from_bits(Dtype dtype, std::int64_t bits);

/// The pattern of a value, rounded to the dtype. Likewise.
std::int64_t to_bits(Dtype dtype, double value);

/// A pattern of the class, a pure function of `word`.
std::int64_t float_in(Dtype dtype, FloatClass float_class, std::uint64_t word);

/// Patterns of these classes, each as likely.
rc::Gen<std::int64_t> float_bits(Dtype dtype, std::vector<FloatClass> classes);

/// Patterns simpler than `bits`, simplest first: 0, 1, then without the sign, a power of two, half of the significand's
/// bits, an exponent nearer to 1's; for an infinity the largest finite value, for a NaN the quiet one without payload.
/// Following any of them always comes to an end.
rc::Seq<std::int64_t> simpler_bits(Dtype dtype, std::int64_t bits);

}  // namespace sextant::gen
