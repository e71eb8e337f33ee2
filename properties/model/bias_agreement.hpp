#pragma once

#include <cstdint>
#include <optional>

#include "lib/spec/spec.hpp"
#include "properties/engine/judgement.hpp"
#include "reference/alibi.hpp"

namespace sextant {

/// ALiBi's biases with what an implementation may be off by. m_h (q - k) in arithmetic of roundoff u: the distance is
/// rounded (1), the slope is a power of 2 to a rounded exponent (|ln m| and pow's 2), or a product of h + 1 rounded
/// factors start^(h+1), start = 2^(-8/n), as in the released code (2 (h+1): start's own error and the product's), the
/// product rounds once (1): c = 4 + |ln m| + 2 (h + 1), and evaluation and the last rounding add k ULP, 1/2 or 1 or 4
/// as everywhere: k ulp + gamma_c |b|. An object belongs to one thread.
class AlibiBudget {
 public:
  AlibiBudget(const Spec& spec, const Alibi& encoding);

  struct Value {
    reference::Enclosure truth;
    reference::Enclosure bound;
  };

  /// Nothing where the mask hides the key.
  std::optional<Value> at(std::int64_t query, std::int64_t key, std::int64_t head, reference::Precision precision);

 private:
  Dtype dtype_;
  double ulps_;
  double roundoff_;
  reference::AlibiReference oracle_;
};

/// Compares the bias of one query, key and head as two calls gave it: of relative_bias the same weight; of alibi two
/// values within the bound of one truth, and so within twice that of each other. An object belongs to one thread.
class BiasAgreement {
 public:
  explicit BiasAgreement(const Spec& spec);

  void compare(Judgement& judgement, double one, double other, std::int64_t query, std::int64_t key, std::int64_t head);

 private:
  Dtype dtype_;
  std::optional<AlibiBudget> alibi_;
};

}  // namespace sextant
