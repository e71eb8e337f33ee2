// Which angles are multiples of 1/24 of a turn, where sines or cosines are rational and results may be ties: decided in
// integers, from the frequency's fraction and the position. docs/proofs/rope.md, step 20.

#include "lib/rope/exact_turns.hpp"

#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>

#include "lib/kernels/rational_power.hpp"

namespace sextant {
namespace {

using boost::multiprecision::cpp_int;

}  // namespace

ExactTurns::ExactTurns(const Ladders& ladders) {
  if (ladders.ladders.front().extent == 0) return;
  for (const auto& [ladder, index] : ladders.places) {
    const auto& [rope, extent, stretch] = ladders.ladders[static_cast<std::size_t>(ladder)];
    const auto divisor = rational_power(rope.rope_theta, 2 * index, rotary_width(rope));
    parts_.push_back(divisor ? std::optional(Part{extent, *divisor, stretch}) : std::nullopt);
  }
}

std::optional<int> ExactTurns::twenty_fourths(std::int64_t pair, std::int64_t q) const {
  if (parts_.empty() || !parts_[static_cast<std::size_t>(pair)]) return std::nullopt;
  const auto& [extent, divisor, stretch] = *parts_[static_cast<std::size_t>(pair)];
  int exponent = 0;
  const auto whole = static_cast<std::int64_t>(std::ldexp(std::frexp(divisor, &exponent), 53));
  int of_stretch = 0;
  const auto factor = static_cast<std::int64_t>(std::ldexp(std::frexp(stretch, &of_stretch), 53));
  exponent -= of_stretch;
  cpp_int numerator = cpp_int(24) * q * factor;
  cpp_int denominator = cpp_int(extent) * whole;
  exponent < 0 ? numerator <<= static_cast<unsigned>(-exponent) : denominator <<= static_cast<unsigned>(exponent);
  if (numerator % denominator != 0) return std::nullopt;
  const auto rest = static_cast<int>(cpp_int(numerator / denominator % 24));
  return rest < 0 ? rest + 24 : rest;
}

}  // namespace sextant
