#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "lib/numeric/tensor.hpp"
#include "lib/spec/spec.hpp"
#include "properties/engine/judgement.hpp"
#include "properties/model/attention_case.hpp"
#include "properties/model/attention_part.hpp"
#include "properties/model/attention_quick.hpp"
#include "reference/attention.hpp"

namespace sextant {

/// What each batch row takes for its length where positions turn vectors.
std::vector<std::int64_t> lengths_of(const AttentionCase& request, const TurningOracle* turning);

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

  /// Row `row` of k, that a cache keeps: as it is.
  Vector cached(const Tensor& tensor, std::int64_t row, reference::Precision precision);

  /// What the position adds to a score: nothing where it adds nothing.
  ScoreTerm bias_at(const BiasPlace& place, const Tensor* weight, reference::Precision precision);

  /// How it turns vectors; null if it does not.
  TurningOracle* turning() const { return turning_.get(); }

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

}  // namespace sextant
