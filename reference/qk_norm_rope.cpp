#include "reference/qk_norm_rope.hpp"

namespace sextant::reference {

Enclosure HeadNorm::inverse_root(std::span<const double> x, Precision precision) const {
  Enclosure sum(0.0, precision);
  for (const double value : x) sum = sum + square(Enclosure(value, precision));
  const Enclosure mean = sum / Enclosure(std::ssize(x), precision);
  return Enclosure(1.0, precision) / sqrt(mean + Enclosure(epsilon_, precision));
}

Enclosure HeadNorm::normalized(double x, double weight, const Enclosure& inverse_root) const {
  const Precision precision = inverse_root.precision();
  const Enclosure gain = Enclosure(weight_offset_, precision) + Enclosure(weight, precision);
  return Enclosure(x, precision) * gain * inverse_root;
}

}  // namespace sextant::reference
