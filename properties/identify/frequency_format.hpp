#pragma once

#include <cstddef>
#include <string_view>

#include "properties/identify/measured_turns.hpp"

namespace sextant::identify {

/// How far an implementation's frequencies may be from the real ones of its own rule, since they are numbers of some
/// format: the strictest first.
enum class FrequencyFormat { float32, running_product, float16, bfloat16 };
inline constexpr FrequencyFormat frequency_formats[] = {FrequencyFormat::float32, FrequencyFormat::running_product,
                                                        FrequencyFormat::float16, FrequencyFormat::bfloat16};

/// "frequencies are rounded to bfloat16", ...; empty for float32, which is usual.
std::string_view words_of(FrequencyFormat format);

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
