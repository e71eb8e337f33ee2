#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "properties/identify/fitted_answers.hpp"

namespace sextant::identify {

/// How rows of Fourier features differ from a claim's, where every channel that was asked is explained: "band 9 has the
/// frequency of band 8", "axes 1 and 2 have in each band the next one's frequency", "the coordinates in the row are
/// multiplied by pi". Empty where a channel is as nothing that is tried, where none differs, and of a weight.
std::string words_of_fourier_rows(const AskedAnswers& asked, const Spec& claim, const Fourier& features);

/// A band's own frequency, of a ladder; of one more band at either end too.
double frequency_of_band(const Fourier& features, std::int64_t band);

/// What the frequencies of these bands are, on every axis, where each is 0, the claimed one's negative or so many times
/// the claimed one: "band 9 turns the other way". Empty where one is none of them.
std::string words_of_bands_alone(const AskedAnswers& asked, const Spec& claim, const Fourier& features,
                                 std::span<const std::int64_t> bands);

}  // namespace sextant::identify
