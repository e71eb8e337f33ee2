#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "properties/identify/rotations/measured_turns.hpp"

namespace sextant::identify {

/// How far an implementation's frequencies may be from the real ones of its own rule, since they are numbers of some
/// format: the strictest first.
enum class FrequencyFormat { float64, float32, running_product, float16, bfloat16 };
inline constexpr FrequencyFormat frequency_formats[] = {FrequencyFormat::float64, FrequencyFormat::float32,
                                                        FrequencyFormat::running_product, FrequencyFormat::float16,
                                                        FrequencyFormat::bfloat16};

/// Whether phases are seen so finely that frequencies of float32 would show as such: then those that fit float64 are
/// known a thousand times better. Of three pairs at least, which the parameters of a rule do not meet by chance.
bool shows_float64(std::span<const MeasuredTurn> turns);

/// Leaves of fits (with `format` and `is_pinned`) those by float64 that are told from others as round, if there are
/// any: what is right to that many digits is not so by chance. Else those by the other formats.
template <class Fit>
void prefer_float64(std::vector<Fit>& fits) {
  const auto is_exact = [](const Fit& fit) { return fit.format == FrequencyFormat::float64; };
  std::erase_if(fits, [&](const Fit& fit) { return is_exact(fit) && !fit.is_pinned; });
  if (std::ranges::any_of(fits, is_exact)) std::erase_if(fits, [&](const Fit& fit) { return !is_exact(fit); });
}

/// "frequencies are rounded to bfloat16", ...; empty for float64 and float32, which are usual.
std::string_view words_of(FrequencyFormat format);

/// Of frequencies of 16 bits their dtype.
std::optional<Dtype> dtype_of(FrequencyFormat format);

/// Whether frequencies per `unit` of position, as they are measured, are numbers of a 16-bit format; those that are
/// seen too coarsely to tell may be. True of the other formats, which phases are not fine enough to refute.
bool are_numbers_of(FrequencyFormat format, std::span<const MeasuredTurn> turns, double unit);

/// What an explanation by this format costs against one by float32, in digits of parameters: it must make them so much
/// rounder.
int digits_of(FrequencyFormat format);

/// How far the real frequency of pair `pair` may be from the measured one: what phases leave open, and what the format
/// does. In float32 base^e_i is off by the rounding of e_i, ln(base) e_i u = |ln w| u twice over (exponent, or argument
/// of exp), and by the roundings of a power, a reciprocal and a rule's few operations, six in all. A running product
/// rounds its ratio i times over, and itself each time. Frequencies cast to a 16-bit format are rounded once more, in
/// float16 by half of its least number where they are below.
double left_open(FrequencyFormat format, std::size_t pair, const MeasuredTurn& turn);

}  // namespace sextant::identify
