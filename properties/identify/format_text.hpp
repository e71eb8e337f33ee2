#pragma once

#include <string>

#include "lib/numeric/dtype.hpp"

namespace sextant::identify {

/// What values of `dtype` are rounded to that have the digits of `format`: float32's that have those of float16 may
/// have been rounded to TF32 as well, which graphics processors multiply in; they differ beyond float16's range alone.
inline std::string format_text(Dtype format, Dtype dtype) {
  const bool may_be_tf32 = format == Dtype::float16 && dtype == Dtype::float32;
  return may_be_tf32 ? "float16 or TF32" : std::string(name_of(format));
}

}  // namespace sextant::identify
