#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lib/kernels/turns.hpp"
#include "lib/numeric/dtype.hpp"
#include "lib/numeric/tensor.hpp"
#include "lib/spec/spec.hpp"

// The angles of Fourier features: as frequencies for the kernels, and to as many bits as the last tier needs.

namespace sextant {

enum class FourierFunction { sin, cos };

/// The exponent of a band of powers_of_two where it is a whole number, decided exactly.
std::optional<int> whole_exponent(const Fourier& encoding, std::int64_t band);

/// Whether each frequency of powers_of_two is twice the one before, decided exactly.
bool bands_double(const Fourier& encoding);

/// What one count of a coordinate (`counted`) turns each band by on an axis, in turns modulo one, within a unit of
/// 2^-192 turn; `weight` is that of the ladder of this name, else null.
std::vector<Turns> turns_of_counts(const Fourier& encoding, const Tensor* weight, std::int64_t axis);

/// A sine or cosine of the row, and what its angle is made of.
struct FourierValue {
  const Fourier& encoding;
  const Tensor* weight;  ///< of the ladder of this name, else null
  std::int64_t axis;     ///< without a weight
  std::int64_t band;
  std::span<const std::int64_t> counts;  ///< `counted` of each axis
};

/// The value of `dtype` nearest to it, ties to even, a zero +0.
/// @throws std::domain_error if 5000 bits leave it open: no such case is known. An angle of radians is a nonzero
/// algebraic number or 0, whose sine and cosine are transcendental or 0 and 1 (Lindemann). Of turns it is rational, and
/// they are 0, +-1/2 or +-1, which are numbers of every dtype, or irrational (Niven); or the rational multiple of an
/// irrational power of two, and they are transcendental (Gelfond and Schneider). None is a tie.
double exact_value(const FourierValue& value, FourierFunction function, Dtype dtype);

/// The value of `dtype` nearest to count * step / divisor, |count| <= 2^53 and 1 <= divisor <= 2^20.
double rounded_coordinate(std::int64_t count, double step, std::int64_t divisor, Dtype dtype);

}  // namespace sextant
