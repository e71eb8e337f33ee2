#pragma once

#include <string>
#include <string_view>

#include "lib/numeric/dtype.hpp"
#include "lib/numeric/rounding.hpp"

namespace sextant {

// Callers in C++ can pass an enumeration any number, by a cast or from memory that nobody set: what encoders ask before
// they trust one.

/// Whether it is a floating dtype: neither int64 nor a number that no dtype has.
constexpr bool is_floating(Dtype dtype) {
  switch (dtype) {
    case Dtype::float64:
    case Dtype::float32:
    case Dtype::float16:
    case Dtype::bfloat16: return true;
    case Dtype::int64: break;
  }
  return false;
}

/// What is said of one that is not: "dtype int64 is not a floating dtype", "dtype 9 is not a floating dtype".
std::string not_floating(Dtype dtype);

/// @throws std::invalid_argument, in the name of `function`, unless it is one of the two.
void check_rounding(std::string_view function, Rounding rounding);

}  // namespace sextant
