#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/spec/spec.hpp"
#include "properties/model/attention_part.hpp"
#include "subjects/subject.hpp"

namespace sextant::identify {

/// One call of `bias`: its positions, and how many heads its weight has. ALiBi has those of its claim.
struct BiasQuestion {
  std::vector<std::int64_t> queries;
  std::vector<std::int64_t> keys;
  std::int64_t heads = 3;

  bool operator==(const BiasQuestion&) const = default;
};

/// One value of a call, by its indices there.
struct BiasCell {
  std::size_t call;
  std::int64_t head;
  std::int64_t query;
  std::int64_t key;
  bool is_right;
};

/// What a cell would have but for one thing; nothing where that says nothing of it. An infinite error is of what may be
/// anything, a NaN of what is not so.
using BiasValue = std::function<std::optional<QuickScoreTerm>(ScoreBiasOracle& own, const BiasQuestion& question,
                                                              const BiasCell& cell, const Tensor* weight)>;

/// Calls of ALiBi, a relative bias or a window's, and their cells held against the claim. What a causal mask hides is
/// no cell; of large calls a few heads are compared.
class AskedBiases {
 public:
  AskedBiases(Session& session, const Spec& claim);

  /// Whether a cell of it is wrong. @throws SubjectFailure, Interrupted.
  bool ask(BiasQuestion question);

  const Spec& claim() const { return claim_; }
  const std::vector<BiasQuestion>& questions() const { return questions_; }
  const BiasQuestion& question(const BiasCell& cell) const { return questions_[cell.call]; }
  const std::vector<BiasCell>& cells() const { return cells_; }
  bool has_wrong() const;

  /// Whether the cell has this value, as near as the dtype's roundings leave it.
  enum class Has { yes, no, anything, nothing };
  Has has(const BiasCell& cell, const BiasValue& value) const;

 private:
  std::optional<Tensor> weight_of(std::int64_t heads) const;

  Session& session_;
  const Spec& claim_;
  std::unique_ptr<ScoreBiasOracle> truth_;
  std::vector<BiasQuestion> questions_;
  std::vector<Tensor> answers_;
  std::vector<std::optional<Tensor>> weights_;
  std::vector<BiasCell> cells_;
};

/// The value that the claim has.
std::optional<QuickScoreTerm> claimed_bias(ScoreBiasOracle& own, const BiasQuestion& question, const BiasCell& cell,
                                           const Tensor* weight);

/// Calls of many shapes: more queries or keys, far ones, heads of several numbers, positions in no order and with gaps.
std::vector<BiasQuestion> usual_bias_questions(const Spec& claim);

}  // namespace sextant::identify
