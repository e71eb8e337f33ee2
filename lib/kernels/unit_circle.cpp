// Sines and cosines of the multiples of 1/512 of a turn, each as two doubles: what the rotations of rotations-inl.h
// are read from. The first eighth is made of powers of one rotation at 256 bits, the rest by symmetry.
// docs/proofs/encoder-rotations.md, step 5, has what is asked of them.

#include "lib/kernels/unit_circle.hpp"

#include <vector>

#include "lib/kernels/wide.hpp"
#include "lib/numeric/standard_arithmetic.hpp"

namespace sextant {
namespace {

using W = Wide<256>;

struct Split {
  double high;
  double low;
};

// The conversions may each be a unit off; the sum of what they give is renormalised, so that high is the nearest
// double.
Split split(const W& value) {
  const auto leading = static_cast<double>(value);
  const auto rest = static_cast<double>(W(value - leading));
  const double high = leading + rest;
  return {high, static_cast<double>(W(value - high))};
}

// The first eighth of the circle by powers of one rotation, each product within a few 2^-256 of the last; the rest by
// symmetry, so that the quarters are exact.
UnitCircle make() {
  const StandardArithmetic arithmetic;
  fill_wide_constants();
  constexpr std::size_t eighth = UnitCircle::points / 8;
  constexpr std::size_t quarter = UnitCircle::points / 4;
  const WideSinCos<W> step = wide_sin_cos(W(wide_pi<W>() / (UnitCircle::points / 2)));
  UnitCircle circle{};
  std::array<Split, quarter + 1> sine{};
  WideSinCos<W> at{W(0), W(1)};
  for (std::size_t k = 0; k <= eighth; ++k) {
    sine[k] = split(at.sin);
    sine[quarter - k] = split(at.cos);
    at = {W(at.sin * step.cos + at.cos * step.sin), W(at.cos * step.cos - at.sin * step.sin)};
  }
  const auto sine_at = [&](std::size_t k) {
    const std::size_t within = k % quarter;
    const bool falling = k / quarter % 2 == 1;
    const Split value = sine[falling ? quarter - within : within];
    return k / quarter % 4 >= 2 ? Split{-value.high, -value.low} : value;
  };
  for (std::size_t k = 0; k < UnitCircle::points; ++k) {
    const Split s = sine_at(k);
    const Split c = sine_at(k + quarter);
    // Adding zero makes the exact zeros positive.
    circle.sin_high[k] = s.high + 0.0;
    circle.sin_low[k] = s.low + 0.0;
    circle.cos_high[k] = c.high + 0.0;
    circle.cos_low[k] = c.low + 0.0;
  }
  return circle;
}

}  // namespace

const UnitCircle& unit_circle() {
  static const UnitCircle circle = make();
  return circle;
}

}  // namespace sextant
