#pragma once

#include <cstdint>
#include <optional>

#include "lib/numeric/dtype.hpp"
#include "lib/sinusoidal/plan.hpp"

namespace sextant {

/// Which of a pair's two values.
enum class Component { sin, cos };

/// The last tier: the value of `dtype` nearest to scale * sin(w_pair * position), or cos, at as many bits as that
/// takes; `position` counts steps, and position_offset is the caller's. Exact at position 0, and where counts are parts
/// of a turn at quarters of one. Nothing if 5000 bits do not decide it: no such case is known. For position != 0 an
/// angle in radians is a nonzero algebraic number, as the step and angle_scale are rational, so that its sine and
/// cosine are transcendental and never a tie. Where w is a part of a turn they are, if it is irrational, transcendental
/// too (Gelfond and Schneider), else 0, +-1/2 or +-1, which are numbers of every dtype, or irrational (Niven): scale 1
/// then has no tie but those that zeros of two signs make.
std::optional<double> exact_value(Dtype dtype, const SinusoidalPlan& plan, std::int64_t pair, std::int64_t position,
                                  Component component);

}  // namespace sextant
