#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lib/spec/spec.hpp"
#include "properties/identify/fitted_answers.hpp"

namespace sextant::identify {

/// A code as it came, and the place that it was asked for, axis by axis, in the claim's steps.
struct CodeRow {
  std::vector<std::int64_t> place;
  std::vector<double> channels;
};

/// Some rows of the calls that were asked of a code, spread over them.
std::vector<CodeRow> rows_of(const AskedAnswers& asked, const Spec& claim);

/// What a claim of two axes is as one of any number.
SinusoidalNd as_nd(const Sinusoidal2d& table);

/// What the channels of each axis of a sinusoidal code, or of Fourier features, are, each axis by itself, where that
/// explains every row: another order of sines and cosines, other frequencies, or the claim's own of other coordinates,
/// which the phases tell: "axis 1: cosines come first, where the claim has sines first". Empty where all are as
/// claimed, where an axis is as nothing that is tried, and of other encodings.
std::string words_of_axis_formulas(const Spec& claim, std::span<const CodeRow> rows);

}  // namespace sextant::identify
