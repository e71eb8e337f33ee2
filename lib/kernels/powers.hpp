#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lib/kernels/frequency_pieces.hpp"
#include "lib/kernels/turns.hpp"

namespace sextant {

/// Bound on |true value - computed value| / true value of a power as PowerAt of powers-inl.h returns it, high + low:
/// docs/proofs/encoder-powers.md, step 5.
inline constexpr double power_error = 0x1p-97;
/// The same in double.
inline constexpr double power_error_in_double = 1.01 * 0x1p-53;

/// A factor (numerator / denominator)^(exponent_numerator / exponent_denominator). Domain: 0 < numerator <= denominator
/// < 2^30, the exponent's denominator finite and above 0.
struct PowerScale {
  std::int64_t numerator;
  std::int64_t denominator;
  std::int64_t exponent_numerator;
  double exponent_denominator;
};

/// Pairs that grow or shrink with their position: 2^(g_i p) at p, g_i doublings per position. As a frequency's phase
/// counts modulo one turn, so does an exponent of two, but for a shift of the binary point: the fraction of g p comes
/// from the same exact products, whatever p.
class PowerRates {
 public:
  PowerRates() = default;
  /// g_i = log2(numerator / denominator) exponent_numerator / exponent_denominator of each factor, the power of
  /// position 1; its fraction within 2^-192 while |g_i| < 2^48. Domain: at least one factor.
  explicit PowerRates(std::span<const PowerScale> of_one_position);

  /// The rates of the inverse powers.
  PowerRates inverse() const;

  /// The rates modulo 1, as vectors read them.
  const FrequencyPieces& fractions() const { return fractions_; }
  /// The rates themselves as doubles, within 2^-53 relatively, padded likewise.
  const double* rates() const { return rates_.data(); }
  /// The greatest magnitude of a rate.
  double fastest() const;

  /// Exponents whose whole part is beyond this are held at it, the fraction kept: such powers are no nearer to 1 than
  /// the true ones.
  static constexpr double exponent_limit = 500;

 private:
  PowerRates(std::vector<Turns> fixed, std::vector<double> rates);

  std::vector<Turns> fixed_;
  FrequencyPieces fractions_;
  std::vector<double> rates_;
};

/// 2^(k/512), k = 0 .. 511, as double-doubles: high is the nearest double, and high + low is within 2^-106 relatively.
struct BinaryPowers {
  static constexpr std::size_t points = 512;
  std::array<double, points> high;
  std::array<double, points> low;
};

/// Computed at first use; constant since.
const BinaryPowers& binary_powers();

}  // namespace sextant
