#pragma once

#include <span>

#include "lib/spec/qk_norm_rope.hpp"
#include "reference/enclosure.hpp"

namespace sextant::reference {

/// Enclosures of the norm of queries and keys, Zhang and Sennrich 2019 (arXiv 1910.07467), equation 4, as
/// lib/spec/qk_norm_rope.hpp states it: n_i = x_i (weight_offset + w_i) r. What rope makes of n is
/// reference/rope.hpp's.
class HeadNorm {
 public:
  explicit HeadNorm(const QkNormRope& encoding) : epsilon_(encoding.epsilon), weight_offset_(encoding.weight_offset) {}

  /// r = 1/sqrt((x_0^2 + ... + x_{d-1}^2)/d + epsilon) of one head of d channels, d above 0.
  Enclosure inverse_root(std::span<const double> x, Precision precision) const;

  /// n_i from x_i, w_i and r, at r's precision.
  Enclosure normalized(double x, double weight, const Enclosure& inverse_root) const;

 private:
  double epsilon_;
  double weight_offset_;
};

}  // namespace sextant::reference
