#pragma once

#include <string>

#include "properties/identify/fitted_answers.hpp"

namespace sextant::identify {

/// How rows of Fourier features differ from a claim's, where every channel that was asked is explained: "band 9 has the
/// frequency of band 8", "axes 1 and 2 have in each band the next one's frequency", "the coordinates in the row are
/// multiplied by pi". Empty where a channel is as nothing that is tried, where none differs, and of a weight.
std::string words_of_fourier_rows(const AskedAnswers& asked, const Spec& claim, const Fourier& features);

}  // namespace sextant::identify
