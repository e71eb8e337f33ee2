#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "lib/numeric/tensor.hpp"
#include "lib/spec/spec.hpp"
#include "properties/engine/judgement.hpp"
#include "properties/model/attention_part.hpp"
#include "properties/model/attention_quick.hpp"
#include "properties/model/call.hpp"
#include "properties/model/question.hpp"
#include "reference/attention.hpp"
#include "subjects/subject.hpp"

namespace sextant {

/// What attention is asked about: q [batch, heads, tokens, head_dim], k and v likewise, positions [batch, tokens].
struct AttentionCase {
  Tensor q;
  Tensor k;
  Tensor v;
  std::vector<std::int64_t> positions;  ///< [axes, batch, tokens] with rope_nd
  std::optional<Tensor> weight;         ///< of a relative bias
  std::int64_t batch;
  std::int64_t tokens;
};

/// The most tokens that a question of attention has.
inline constexpr std::int64_t longest_attention = 4096;

/// The most scores of a call, num_heads tokens^2: code that keeps them all takes some times as many floats.
inline constexpr double most_scores = 0x1p26;

/// How many tokens one batch row may have for a call to take at most `work` products of queries and keys,
/// num_heads tokens^2 head_dim, and most_scores: at least 1, at most longest_attention.
std::int64_t longest_tokens(const Attention& encoding, double work);

/// Products of calls that accuracy asks once, of the longest of a law, and of those that are drawn again and again.
inline constexpr double work_of_once = 0x1p32;
inline constexpr double work_of_longest = 0x1p29;
inline constexpr double work_of_drawn = 0x1p26;

/// The case of a question: at most longest_attention tokens and most_rows batch rows, positions rising in each row.
AttentionCase attention_case(const Spec& spec, const Question& question);

/// Where a token's query or key stands.
VectorPlace place_of(const AttentionCase& request, std::int64_t batch, std::int64_t token, Role role);
/// The same in a call whose length (reference::sequence_length) is known.
VectorPlace place_of(const AttentionCase& request, std::int64_t batch, std::int64_t token, Role role,
                     std::int64_t length);

/// As a call, and back.
Call call_of(AttentionCase request, std::int64_t fill);
AttentionCase attention_case(const Call& call);

/// Asks it.
Tensor attend(Session& session, const Spec& spec, const AttentionCase& request);

/// The true result of attention, whatever its position encoding; the fast tier has the bounds on an implementation's
/// error too. An object and its copies belong to one thread.
class AttentionOracle {
 public:
  explicit AttentionOracle(const Spec& spec);

  /// The true row of one query of one head, [head_dim].
  reference::RealVector row(const AttentionCase& request, std::int64_t batch, std::int64_t head, std::int64_t token,
                            reference::Precision precision);

  /// The fast tier, for rows of a case that outlives it and while this object lives.
  std::unique_ptr<QuickAttention> quick(const AttentionCase& request);

  /// A vector as the position leaves it.
  struct Vector {
    reference::RealVector value;
    std::vector<double> norms;   ///< of each pair, then of each channel that does not turn
    std::vector<double> errors;  ///< what an implementation's rotation of each may be off by
  };

  /// Row `row` of q or k, in the role that the place says.
  Vector turned(const Tensor& tensor, std::int64_t row, const VectorPlace& place, reference::Precision precision);

  /// What the position adds to a score: nothing where it adds nothing.
  ScoreTerm bias_at(const BiasPlace& place, const Tensor* weight, reference::Precision precision);

  /// How it turns vectors; null if it does not.
  TurningOracle* turning() { return turning_.get(); }

 private:
  Spec spec_;
  Attention encoding_;
  // Shared by copies, which a check in a std::function must allow; null where the position does nothing of the kind.
  std::shared_ptr<TurningOracle> turning_;
  std::shared_ptr<ScoreBiasOracle> bias_;
};

/// The model of the position encoding alone, under the same claim; null without one.
std::unique_ptr<EncodingModel> position_model(const Spec& spec, const Attention& encoding);

/// A token of a call.
struct AttentionPlace {
  std::int64_t batch;
  std::int64_t token;
};

/// Judges that each row of one result is row `in_other(place)` of the other, head by head: both are within the oracle's
/// bound of one true value. What is equal is not looked at twice, and once a violation is known, not every row that
/// may be worse. Where the two true values differ by more than twice both bounds, even the nearest of right answers do
/// by more than both: of a judgement that may_hide, in none of a few rows do they, which `fill` chooses. Its finding
/// tells the other result as the first.
Judgement judge_same(const Spec& spec, AttentionOracle& oracle, const AttentionCase& one_case, const Tensor& one,
                     const AttentionCase& other_case, const Tensor& other, std::int64_t fill,
                     const std::function<AttentionPlace(const AttentionPlace&)>& in_other);

/// The first `tokens` tokens of every batch row.
AttentionCase first_tokens(const AttentionCase& request, std::int64_t tokens);
/// One batch row.
AttentionCase batch_row(const AttentionCase& request, std::int64_t batch);
/// `count` of them from `first` on.
AttentionCase batch_rows(const AttentionCase& request, std::int64_t first, std::int64_t count);
/// The tokens order[0], order[1], ... of every batch row, each with its position.
AttentionCase in_order(const AttentionCase& request, const std::vector<std::int64_t>& order);

}  // namespace sextant
