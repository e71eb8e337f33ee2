#pragma once

#include <cstdint>
#include <optional>

#include "lib/numeric/dtype.hpp"
#include "lib/spec/spec.hpp"

namespace sextant {

/// Which of a pair's two values.
enum class Component { sin, cos };

/// The last tier: the value of `dtype` nearest to scale * sin(w_pair * position), or cos, at as many bits as that
/// takes; `position` counts steps, and position_offset is the caller's. Exact at position 0. Nothing if 5000 bits do
/// not decide it: no such case is known (for position != 0 the angle is a nonzero algebraic number, as the step and
/// angle_scale are rational, so that its sine and cosine are transcendental and never a tie).
std::optional<double> exact_value(Dtype dtype, const Sinusoidal& encoding, std::int64_t pair, std::int64_t position,
                                  Component component);

}  // namespace sextant
