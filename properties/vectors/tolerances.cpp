#include "properties/vectors/tolerances.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <limits>

#include "lib/numeric/ulp.hpp"
#include "lib/spec/spec.hpp"

namespace sextant::vectors {
namespace {

// The largest value of the answer's neighbourhood: what no bound is above sixteen times of.
double size_near(const Tensor& answer, std::int64_t element) {
  constexpr std::int64_t near = 512;
  double largest = 0;
  const std::int64_t last = std::min(element + near, answer.elements());
  for (std::int64_t i = std::max<std::int64_t>(element - near, 0); i < last; ++i) {
    const double size = std::fabs(answer.at(i));
    if (std::isfinite(size)) largest = std::max(largest, size);
  }
  return largest;
}

}  // namespace

double rounded_up(double value) {
  if (!(value > 0) || !std::isfinite(value)) return value;
  char text[32];
  std::snprintf(text, sizeof text, "%.1e", value);
  double rounded = std::strtod(text, nullptr);
  // The next number of two digits: 9.9e-7 is followed by 1.0e-6.
  for (double step = 1; rounded < value; step *= 2) {
    std::snprintf(text, sizeof text, "%.1e", value * (1 + 0.02 * step));
    rounded = std::strtod(text, nullptr);
  }
  return rounded;
}

std::optional<double> tolerance_of(Judge& judge, const Call& call, Tensor& answer, std::int64_t element) {
  const double value = answer.at(element);
  if (!std::isfinite(value)) return std::nullopt;
  const auto judged_at = [&](double moved) {
    answer.set(element, moved);
    const Judgement judgement = judge.values(call, answer);
    answer.set(element, value);
    return judgement;
  };
  const double away = value > 0 ? -1 : 1;
  const double size = std::max(size_near(answer, element), 1.0);
  double moved = value + away * 16 * size;
  if (std::fabs(moved) > largest_finite(answer.dtype)) moved = away * size;
  const Judgement far = judged_at(moved);
  if (far.within == reference::Certainty::yes) return std::nullopt;
  if (!std::isfinite(far.deviation.of_bound)) return 0;
  const double bound = far.deviation.absolute / far.deviation.of_bound;
  moved = value + away * 8 * bound;
  answer.set(element, moved);
  moved = answer.at(element);  // as rounded
  if (moved == value) moved = away > 0 ? next_above(answer.dtype, value) : next_below(answer.dtype, value);
  const Judgement near = judged_at(moved);
  // A class without a bound between neighbours; else |v - t| follows.
  const double off = std::fabs(near.deviation.absolute - std::fabs(moved - value));
  constexpr double rounding = 1 + 0x1p-30;  // of the quotient and the differences
  return rounded_up((bound + off) * rounding);
}

}  // namespace sextant::vectors
