#include "reference/xpos.hpp"

namespace sextant::reference {

XposReference::XposReference(const Xpos& encoding) : encoding_(encoding), rope_(encoding.rope) {}

const Rotation& XposReference::rotation(std::int64_t position, std::int64_t pair, Precision precision) {
  return rope_.rotation(position, pair, precision);
}

// torchscale 0.3: arange(min_pos, max_pos), min_pos = -length // 2, Python's quotient being rounded down;
// x-transformers 2.31: t - length // 2.
std::int64_t XposReference::counted(std::int64_t position, std::int64_t length) const {
  if (const auto* centre = std::get_if<std::int64_t>(&encoding_.centre)) return position - *centre;
  const auto rounded_down = [](std::int64_t number) {
    const std::int64_t towards_zero = number / 2;
    return number % 2 < 0 ? towards_zero - 1 : towards_zero;
  };
  const bool up = std::get<HalfOfCall>(encoding_.centre) == HalfOfCall::ceil;
  return up ? rounded_down(-length) + position : position - rounded_down(length);
}

Enclosure XposReference::scale(std::int64_t count, std::int64_t pair, Precision precision) const {
  return exp(Enclosure(count, precision) * log_step(pair, precision));
}

Enclosure XposReference::log_step(std::int64_t pair, Precision precision) const {
  const Rope& rope = encoding_.rope;
  const std::int64_t width = rotary_width(rope);
  // Sun et al. 2022, algorithm 1: zeta = (i/(n/2) + gamma) / (1 + gamma), gamma = 0.4, a decimal.
  const Enclosure gamma = Enclosure(std::int64_t{2}, precision) / Enclosure(std::int64_t{5}, precision);
  const Enclosure share = Enclosure(pair, precision) / (Enclosure(width, precision) / Enclosure(2.0, precision));
  const Enclosure log_zeta = log(share + gamma) - log(Enclosure(1.0, precision) + gamma);
  const Enclosure sign(encoding_.role == Role::query ? 1.0 : -1.0, precision);
  return sign * log_zeta / Enclosure(encoding_.scale_base, precision);
}

FastPowers XposReference::fast_scales() const {
  return {[reference = *this](std::int64_t pair, Precision precision) { return reference.log_step(pair, precision); },
          pairs(encoding_.rope)};
}

RealPair XposReference::turned(std::int64_t position, std::int64_t pair, const RealPair& x, Precision precision,
                               std::int64_t length) {
  const Enclosure factor = scale(counted(position, length), pair, precision);
  const RealPair rotated = RopeReference::rotate(rotation(position, pair, precision), x);
  return {factor * rotated.first, factor * rotated.second};
}

}  // namespace sextant::reference
