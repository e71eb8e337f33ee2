#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/numeric/tensor.hpp"
#include "lib/spec/sinusoidal.hpp"

namespace sextant::identify {

/// Which formula other than the claim's every channel of a table [positions, dim] has, in words: "exponents count
/// channels, not pairs: ..."; empty where the claim's own fits, or none that is tried.
std::string words_of_channels(const std::vector<std::int64_t>& positions, const Tensor& table, const Sinusoidal& claim);

/// Whether one function of a table's pairs is made of the other, in words: "cosines are computed as sqrt(1 - sin^2):
/// inexact near their zeros". Every bit is that, and near zeros no other way has the same ones. Empty where it is not,
/// and of a scale other than 1.
std::string words_of_members(const Tensor& table, const Sinusoidal& claim);

}  // namespace sextant::identify
