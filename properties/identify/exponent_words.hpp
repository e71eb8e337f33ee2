#pragma once

#include <cstdint>
#include <string>

namespace sextant::identify {

/// Frequencies base^(-i / divisor) of a sinusoidal code.
struct FrequencySeries {
  double base;
  double divisor;
};

/// By what exponents differ from a claim's, where that says more than another base: "exponents are halved, as with base
/// 100, where 10000 is claimed", "exponents are divided by 34, not by 30: the frequency shift is added", "each
/// frequency is e^-1 times the one before". `shift` is what the claim's divisor has been lessened by. Empty where it
/// does not.
std::string words_of_exponents(const FrequencySeries& claimed, const FrequencySeries& found, std::int64_t shift);

}  // namespace sextant::identify
