#include "reference/frequency.hpp"

#include <utility>

namespace sextant::reference {

GeometricFrequencies::GeometricFrequencies(double base, std::int64_t numerator, std::int64_t denominator,
                                           std::int64_t count, const Factors& factors)
    : base_(base), numerator_(numerator), denominator_(denominator), count_(count), factors_(factors) {}

Enclosure GeometricFrequencies::log_magnitude(std::int64_t pair, Precision precision) const {
  if (pair == 0) return {std::int64_t{0}, precision};
  return log(Enclosure(base_, precision)) * Enclosure(pair * numerator_, precision) /
         Enclosure(denominator_, precision);
}

const Enclosure& GeometricFrequencies::radians(std::int64_t pair, Precision precision) {
  std::vector<Enclosure>& frequencies = by_precision_[precision.bits];
  if (frequencies.empty()) {
    frequencies.reserve(static_cast<std::size_t>(count_));
    const Enclosure factor = Enclosure(factors_.scale, precision) * Enclosure(factors_.step, precision);
    for (std::int64_t i = 0; i < count_; ++i) frequencies.push_back(exp(-log_magnitude(i, precision)) * factor);
  }
  return frequencies.at(static_cast<std::size_t>(pair));
}

const Rotation& GeometricFrequencies::rotation(std::int64_t position, std::int64_t pair, Precision precision) {
  if (!kept_ || kept_->position != position || kept_->pair != pair || kept_->bits != precision.bits) {
    Enclosure angle = radians(pair, precision) * Enclosure(position, precision);
    Enclosure sine = sin(angle);
    Enclosure cosine = cos(angle);
    kept_ = Kept{position, pair, precision.bits, {std::move(angle), std::move(sine), std::move(cosine)}};
  }
  return kept_->rotation;
}

}  // namespace sextant::reference
