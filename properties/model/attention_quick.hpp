#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "lib/spec/spec.hpp"
#include "properties/model/attention_part.hpp"

namespace sextant {

/// gamma_k = k u / (1 - k u), what k roundings may come to (Higham 2002, lemma 3.1); 1e9 where k u is 1/2 or more.
inline double gamma(double k, double u) { return k * u < 0.5 ? k * u / (1 - k * u) : 1e9; }

struct AttentionCase;

/// What attention_bound needs of a row.
struct ScoreErrors {
  double score = 0;    ///< A of docs/proofs/attention-oracle.md, steps 1 to 3: what a score may be off by
  double largest = 0;  ///< at least |s|, of every score
  double value = 0;    ///< max |v|
};

/// Step 6 of docs/proofs/attention-oracle.md for a query that sees `keys` of them, under the claim's dtype and libm.
double attention_bound(const Spec& spec, const ScoreErrors& errors, std::int64_t keys);

/// One query of one head.
struct AttentionPlaceOfHead {
  std::int64_t batch;
  std::int64_t head;
  std::int64_t token;
};

/// One row of attention from the fast tier: each true value lies within `error` of `value`.
struct QuickAttentionRow {
  std::vector<long double> value;  ///< [head_dim]
  double error;
  double bound;  ///< on an implementation's error, as AttentionOracle::Row has it
};

/// The fast tier of attention's oracle: rows of one case in hardware floating point, with the bound on its own error
/// that docs/proofs/attention-oracle.md, step 7, proves. It keeps the keys of the last head that was asked about: rows
/// are cheapest in order. An object belongs to one thread.
class QuickAttention {
 public:
  virtual ~QuickAttention() = default;

  virtual QuickAttentionRow row(const AttentionPlaceOfHead& place) = 0;

  /// Its bound alone.
  virtual double bound(const AttentionPlaceOfHead& place) = 0;

  /// At most that bound, at hardly any cost: the part that no score is in.
  virtual double least_bound(const AttentionPlaceOfHead& place) = 0;
};

/// Of a case that outlives it; `turning` and `bias` are null where the position does nothing of the kind.
std::unique_ptr<QuickAttention> quick_attention(const Spec& spec, const AttentionCase& request, TurningOracle* turning,
                                                ScoreBiasOracle* bias);

}  // namespace sextant
