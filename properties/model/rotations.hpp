#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "properties/gen/vectors.hpp"
#include "properties/model/attention_part.hpp"
#include "properties/model/cell_questions.hpp"
#include "properties/model/model.hpp"

namespace sextant {

class RotationJudge;

/// What models of rotations share: the operation rotate, or one that also turns, of vectors [batch, tokens, heads,
/// head_dim].
class RotationModel : public EncodingModel {
 public:
  RotationModel(const Spec& spec, std::int64_t head_dim) : EncodingModel(spec), head_dim_(head_dim) {}

  std::int64_t judged_values() const final { return head_dim_ * vectors_of(1); }

  std::vector<FieldOf<Question>> question_fields() const final;
  std::vector<Question> first_questions() const override;
  rc::Gen<Question> drawn_questions() const override;
  gen::PositionRange range() const final;
  SweepOf<Question> sweep(std::int64_t most_values) const final;

  Call call_of(const Question& question) const override;
  Call accuracy_call(const Question& question) const override;
  Parts chunk_of(const Chunk& chunk) const override;
  Parts one_of(const Question& question, std::int64_t which) const override;
  std::int64_t shapes() const final;
  std::optional<std::int64_t> number_of(TokenShape shape) const final;
  std::vector<Question> questions_of_same_ends() const final { return sextant::questions_of_same_ends(space()); }
  gen::LargestCall largest_reshaped() const final;
  gen::LargestCall largest_drawn() const final;
  Parts reshaped(const Question& question, std::int64_t shape, std::int64_t cut) const override;
  Tensor ask(Session& session, const Call& call) const override;

  std::unique_ptr<TurningOracle> turning() const override = 0;
  std::unique_ptr<Judge> judge() const override;
  std::unique_ptr<Judge> gradient_judge() const override;

 protected:
  std::int64_t head_dim() const { return head_dim_; }

  /// Vectors of every magnitude, then as many heads, rows and tokens as kernels meet, one after the other.
  std::vector<Question> of_kernels() const;

  /// The same of a call of one tensor, of whose heads the first `cut_heads` may be cut.
  Parts reshaped(Call whole, std::int64_t shape, std::int64_t cut, std::int64_t cut_heads) const;

  /// How many vectors a token has in a question of so many heads.
  virtual std::int64_t vectors_of(std::int64_t heads) const { return heads; }

 private:
  /// Vectors of which neighbours differ, a pure function of `fill`.
  virtual Tensor drawn(const gen::Extents& extents, std::int64_t fill) const;

  /// Null where judge and gradient_judge are a model's own.
  virtual std::unique_ptr<RotationJudge> rotation_judge() const;

  /// The vectors that a question of accuracy asks about.
  Tensor given(const Question& question) const;

  /// The sides of the one image that the spec names, rows first; empty where it names none.
  virtual std::vector<std::int64_t> image() const { return {}; }

  /// Where the coordinates of each axis lie: the claim's, cut to that side of the image.
  std::vector<gen::PositionRange> axis_ranges() const;
  gen::PositionRange longest_axis() const;

  /// Where coordinates lie, and the grid of that image; of one axis nothing that is asked.
  CellSpace space() const;

  /// The call of accuracy were every axis as long as the longest.
  Call call_on_the_longest(const Question& question) const;

  /// Questions about positions on several axes as texts, images and films have them.
  std::vector<Question> of_placements(std::int64_t position) const;

  /// At most by what a vector grows as it is turned, where that may be more than 1.
  virtual double most_stretch() const { return 1; }

  /// Whether no pair turns, so that y is x.
  virtual bool turns_nothing() const { return false; }

  /// The drawing that a chunk of fill 0 takes.
  virtual std::int64_t first_drawing() const { return 1; }

  std::int64_t head_dim_;
};

}  // namespace sextant
