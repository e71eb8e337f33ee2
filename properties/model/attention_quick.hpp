#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "lib/spec/spec.hpp"
#include "properties/model/attention_part.hpp"

namespace sextant {

struct AttentionCase;

/// One query of one head.
struct AttentionPlaceOfHead {
  std::int64_t batch;
  std::int64_t head;
  std::int64_t token;
};

/// One row of attention from the fast tier: each true value lies within `errors` of `value`, channel by channel.
struct QuickAttentionRow {
  std::vector<long double> value;  ///< [head_dim]
  std::vector<double> errors;
  std::vector<double> bounds;  ///< on an implementation's, before it is rounded to the dtype (sum_bound)
  bool is_anything;            ///< whether zeros and every mean of the values that the query sees meet that bound
};

/// The fast tier of attention's oracle: rows of one case in hardware floating point, with the bound on its own error
/// that docs/proofs/attention-oracle.md, step 9, proves. It keeps the keys of the last head that was asked about: rows
/// are cheapest in order. An object belongs to one thread.
class QuickAttention {
 public:
  virtual ~QuickAttention() = default;

  virtual QuickAttentionRow row(const AttentionPlaceOfHead& place) = 0;

  /// A row's values alone, at half the cost.
  virtual std::vector<long double> values(const AttentionPlaceOfHead& place) = 0;

  /// At most its bounds, at hardly any cost: the part that no score is in.
  virtual double least_bound(const AttentionPlaceOfHead& place) = 0;
};

/// Of a case that outlives it; `turning` and `bias` are null where the position does nothing of the kind.
std::unique_ptr<QuickAttention> quick_attention(const Spec& spec, const AttentionCase& request, TurningOracle* turning,
                                                ScoreBiasOracle* bias);

}  // namespace sextant
