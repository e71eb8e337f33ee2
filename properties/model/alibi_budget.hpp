#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lib/spec/spec.hpp"
#include "properties/model/screen.hpp"
#include "properties/model/value_judge.hpp"
#include "reference/alibi.hpp"

namespace sextant {

/// How many roundings are in a slope m_h times a distance, however they are formed: the distance is rounded (1), the
/// slope is a power of 2 to a rounded exponent (|ln m| and pow's 2 L), or start^(h+1), start = 2^(-B/n), as in the
/// released code (2 L (h+1): start's own error, pow's the 2 L before), and the product rounds once (1):
/// 2 + 2 L + |ln m| + 2 L (h + 1), L = `libm`.
///
/// Slopes of a slope_dtype are rounded after that, and rounding is monotone: what was within g m of m, g = gamma of the
/// slope's own roundings, lies from round(m (1 - g)) to round(m (1 + g)), which mostly is round(m) alone. How far the
/// farther end is from round(m), relative to it, takes the place of the slope's roundings, told in units of `roundoff`.
double alibi_roundings(reference::AlibiReference& oracle, std::int64_t head, double libm, double roundoff,
                       reference::Precision precision);

/// ALiBi's biases with what an implementation may be off by. m_h (q - k) in arithmetic of roundoff u is off by c =
/// alibi_roundings of them, and evaluation and the last rounding add k ULP as everywhere (budget.hpp): k ulp +
/// gamma_c |b|, where c u is below 1/2: beyond that gamma says nothing, and any value will do. An object belongs to one
/// thread.
class AlibiBudget {
 public:
  AlibiBudget(const Spec& spec, const Alibi& encoding);

  struct Value {
    reference::Enclosure truth;
    reference::Enclosure bound;
  };

  /// Nothing where the mask hides the key.
  std::optional<Value> at(std::int64_t query, std::int64_t key, std::int64_t head, reference::Precision precision);

  /// Whether the mask hides the key.
  bool is_hidden(std::int64_t query, std::int64_t key) const;

  /// The truth and its bound from the fast tier, 2^-39 apart; {0, infinity} where doubles cannot tell.
  QuickTarget quick_target(std::int64_t query, std::int64_t key, std::int64_t head) const;

  /// At most the bound, within 2^-40 of it.
  double least_bound(const Screen& screen, std::int64_t query, std::int64_t key, std::int64_t head) const;

  /// Whether judging the value that is there would change nothing of what the screen is for.
  bool passes(const Screen& screen, std::int64_t query, std::int64_t key, std::int64_t head, double value) const;

 private:
  Dtype dtype_;
  double ulps_;
  reference::AlibiReference oracle_;

  // The true bias, within epsilon.
  long double quick(std::int64_t query, std::int64_t key, std::int64_t head) const;

  // In hardware floating point.
  struct Head {
    long double slope;  // within epsilon/2
    double relative_error;
  };
  std::vector<Head> heads_;
};

}  // namespace sextant
