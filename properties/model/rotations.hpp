#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "lib/spec/rope.hpp"
#include "properties/gen/vectors.hpp"
#include "properties/model/attention_part.hpp"
#include "properties/model/model.hpp"
#include "properties/model/row_agreement.hpp"
#include "reference/rope.hpp"

namespace sextant {

/// What models of rotations share: the operation rotate, of vectors [batch, tokens, heads, head_dim].
class RotationModel : public EncodingModel {
 public:
  RotationModel(const Spec& spec, std::int64_t head_dim) : EncodingModel(spec), head_dim_(head_dim) {}

  std::int64_t judged_values() const final { return head_dim_; }

  std::vector<FieldOf<Question>> question_fields() const final;
  rc::Gen<Question> drawn_questions() const override;

  Call call_of(const Question& question) const final;
  Call accuracy_call(const Question& question) const override;
  Parts chunk_of(const Chunk& chunk) const final;
  Parts one_of(const Question& question, std::int64_t which) const final;
  std::int64_t shapes() const final;
  gen::LargestCall largest_reshaped() const final;
  Parts reshaped(const Question& question, std::int64_t shape, std::int64_t cut) const final;
  Tensor ask(Session& session, const Call& call) const final;

  std::unique_ptr<TurningOracle> turning() const override = 0;

 protected:
  std::int64_t head_dim() const { return head_dim_; }

 private:
  /// Vectors of which neighbours differ, a pure function of `fill`.
  virtual Tensor drawn(const gen::Extents& extents, std::int64_t fill) const;

  /// The drawing that a chunk of fill 0 takes.
  virtual std::int64_t first_drawing() const { return 1; }

  std::int64_t head_dim_;
};

/// Judges rotations: pairs of channels that turn, `head` saying which, and channels that keep what they have.
class RotationJudge : public Judge {
 public:
  Judgement agreement(const Parts& calls, const Tensor& whole, const Tensor& part) final;

 protected:
  explicit RotationJudge(const Rope& head)
      : head_(head), pairs_(pairs(head)), passthrough_(passthrough_channels(head)) {}

  const Rope& head() const { return head_; }
  std::int64_t pairs_count() const { return pairs_; }
  const std::vector<Passthrough>& passthrough() const { return passthrough_; }

  /// The pair of x that is turned, of the vector that begins at `start`.
  reference::RealPair pair_of(const Tensor& x, std::int64_t start, std::int64_t pair,
                              reference::Precision precision) const;

 private:
  /// The bound on a pair's error and the pair's norm, `x` what is rotated.
  virtual Allowance allowance(std::span<const std::int64_t> place, std::int64_t pair, const reference::RealPair& x,
                              reference::Precision precision) = 0;

  /// At most that bound, for a pair of that length before it is turned: 0 where only the exact tier knows it. The
  /// length is within 2^-50 of itself.
  virtual double least_bound(std::span<const std::int64_t> place, std::int64_t pair, double length) = 0;

  /// Whether the dtype can hold the pair. What it cannot hold may differ from call to call.
  virtual bool is_representable(std::span<const std::int64_t>, std::int64_t, const reference::RealPair&) {
    return true;
  }

  Rope head_;
  std::int64_t pairs_;
  std::vector<Passthrough> passthrough_;
};

/// A judge of rotations with more to them than an angle: several axes, or a scale that grows with the position. Only
/// the exact tier knows them, so it judges some vectors of a call; the others are asked for all the same.
class ExactRotationJudge : public RotationJudge {
 public:
  Judgement values(const Call& call, const Tensor& answer) final;

 protected:
  /// What a pair of one vector must be.
  struct Expected {
    reference::RealPair value;
    reference::Enclosure bound;  ///< on each component
    reference::Enclosure norm;
    bool representable = true;  ///< whether the dtype can hold it: else it is not judged
  };

  explicit ExactRotationJudge(const Rope& head) : RotationJudge(head) {}

 private:
  virtual Expected expected(std::span<const std::int64_t> place, std::int64_t pair, const reference::RealPair& x,
                            reference::Precision precision) = 0;
};

}  // namespace sextant
