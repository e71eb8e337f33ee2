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

/// The case of a question: at most 9 tokens and 2 batch rows, positions rising in each row.
AttentionCase attention_case(const Spec& spec, const Question& question);

/// As a call, and back.
Call call_of(AttentionCase request, std::int64_t fill);
AttentionCase attention_case(const Call& call);

/// Asks it.
Tensor attend(Session& session, const Spec& spec, const AttentionCase& request);

/// The true result of attention, and the bound on an implementation's error (derived in attention_oracle.cpp), whatever
/// its position encoding. An object and its copies belong to one thread.
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

  Vector turned(const Tensor& tensor, std::int64_t row, const VectorPlace& place, reference::Precision precision);

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
/// bound of one true value. A few rows, chosen by `fill`. Where the two true values differ by more than twice both
/// bounds, even the nearest of right answers do by more than both: in no row of a judgement that may_hide do they.
Judgement judge_same(const Spec& spec, AttentionOracle& oracle, const AttentionCase& one_case, const Tensor& one,
                     const AttentionCase& other_case, const Tensor& other, std::int64_t fill,
                     const std::function<AttentionPlace(const AttentionPlace&)>& in_other);

/// The first `tokens` tokens of every batch row.
AttentionCase first_tokens(const AttentionCase& request, std::int64_t tokens);
/// One batch row.
AttentionCase batch_row(const AttentionCase& request, std::int64_t batch);

}  // namespace sextant
