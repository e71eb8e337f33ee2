#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "lib/numeric/tensor.hpp"
#include "lib/spec/spec.hpp"
#include "properties/engine/judgement.hpp"
#include "properties/model/budget.hpp"
#include "properties/model/call.hpp"
#include "properties/model/question.hpp"
#include "properties/model/xpos_budget.hpp"
#include "reference/alibi.hpp"
#include "reference/attention.hpp"
#include "reference/rope.hpp"
#include "reference/rope_nd.hpp"
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

/// The case of a question: at most 9 tokens and 2 batch rows, positions rising in each row.
AttentionCase attention_case(const Spec& spec, const Question& question);

/// As a call, and back.
Call call_of(AttentionCase request, std::int64_t fill);
AttentionCase attention_case(const Call& call);

/// Asks it.
Tensor attend(Session& session, const Spec& spec, const AttentionCase& request);

/// The true result of attention, and the bound on an implementation's error (derived in attention_oracle.cpp), whatever
/// its position encoding. An object belongs to one thread.
class AttentionOracle {
 public:
  explicit AttentionOracle(const Spec& spec);

  struct Row {
    reference::RealVector value;  ///< [head_dim]
    double bound;                 ///< on each element
  };

  /// Of one query of one head.
  Row row(const AttentionCase& request, std::int64_t batch, std::int64_t head, std::int64_t token,
          reference::Precision precision);

 private:
  struct Vector {
    reference::RealVector value;
    std::vector<double> norms;   // of each pair, or of each channel where nothing turns
    std::vector<double> errors;  // of each pair's rotation
  };
  struct Bias {
    reference::Enclosure value;
    double error;
  };

  // What turns a vector: where it stands, how long the call is, which side of the score it is.
  struct Place {
    std::vector<std::int64_t> coordinates;
    std::int64_t length;
    Role role;
  };
  struct TurnedPair {
    reference::RealPair value;
    reference::Enclosure norm;
    reference::Enclosure error;
  };

  Place place_of(const AttentionCase& request, std::int64_t batch, std::int64_t token, Role role) const;
  Vector turned(const Tensor& tensor, std::int64_t row, const Place& place, reference::Precision precision);
  TurnedPair turned_pair(const reference::RealPair& x, const Place& place, std::int64_t pair,
                         reference::Precision precision);
  Bias bias_of(const AttentionCase& request, std::int64_t head, std::int64_t query, std::int64_t key,
               reference::Precision precision);

  Spec spec_;
  Attention encoding_;
  std::optional<Rope> head_;  // the channels of the pairs that turn, and where they go
  std::optional<reference::RopeReference> rope_;
  std::optional<reference::RopeNdReference> axial_;
  std::optional<XposBudget> query_;  // xpos's two roles
  std::optional<XposBudget> key_;
  std::optional<ErrorBudget> budget_;
  std::optional<reference::AlibiReference> alibi_;
};

/// A token of a call.
struct AttentionPlace {
  std::int64_t batch;
  std::int64_t token;
};

/// Judges that each row of one result is row `in_other(place)` of the other, head by head: both are within the oracle's
/// bound of one true value. A few rows, chosen by `fill`.
Judgement judge_same(const Spec& spec, AttentionOracle& oracle, const AttentionCase& one_case, const Tensor& one,
                     const AttentionCase& other_case, const Tensor& other, std::int64_t fill,
                     const std::function<AttentionPlace(const AttentionPlace&)>& in_other);

/// The first `tokens` tokens of every batch row.
AttentionCase first_tokens(const AttentionCase& request, std::int64_t tokens);
/// One batch row.
AttentionCase batch_row(const AttentionCase& request, std::int64_t batch);

}  // namespace sextant
