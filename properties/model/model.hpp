#pragma once

#include <rapidcheck.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/numeric/tensor.hpp"
#include "lib/spec/spec.hpp"
#include "properties/engine/judgement.hpp"
#include "properties/engine/typed_cases.hpp"
#include "properties/gen/extent.hpp"
#include "properties/gen/position.hpp"
#include "properties/model/call.hpp"
#include "properties/model/encoded_pairs.hpp"
#include "properties/model/question.hpp"
#include "subjects/subject.hpp"

namespace sextant {

/// What is true of the answers of an encoding under one spec, and how far off they may be. It keeps what its oracle has
/// computed, so an object belongs to one thread.
class Judge {
 public:
  virtual ~Judge() = default;

  /// Whether every value of an answer is as near to the true one as the spec's accuracy class claims. Of answers whose
  /// truth is dear some rows are judged, which the call's fill picks.
  virtual Judgement values(const Call& call, const Tensor& answer) = 0;

  /// Whether two answers agree where they answer the same. An implementation may take another path in each, so the bits
  /// may differ: each is within its bound of one true value, and so both are within twice that of each other.
  virtual Judgement agreement(const Parts& calls, const Tensor& whole, const Tensor& part) = 0;
};

class TurningOracle;
class ScoreBiasOracle;
enum class TokenShape : std::int64_t;

/// A spec with one field changed.
struct Variant {
  std::string field;
  Spec spec;
};

/// One encoding under one spec, as all laws see it that are stated for every encoding: where its questions lie, how it
/// is asked, what is true of its answers. This is the one place that knows encodings apart: a law asks the model, and
/// an encoding that is new to Sextant gets a file of its own here and a line in models.hpp.
///
/// A model is a plain reader of its spec, made in no time; what an oracle costs, judge() and encoded_pairs() cost.
class EncodingModel {
 public:
  explicit EncodingModel(const Spec& spec) : spec_(spec) {}
  EncodingModel(const EncodingModel&) = delete;
  EncodingModel& operator=(const EncodingModel&) = delete;
  virtual ~EncodingModel() = default;

  const Spec& spec() const { return spec_; }

  // What the encoding is.

  /// How many values an answer is judged by: channels of a row, 9 keys of a query in attention, 48 of one in a bias.
  /// The engine grants the exact tier's work by it.
  virtual std::int64_t judged_values() const = 0;

  /// Where positions may lie on every axis: the claim, cut to the extents of a grid.
  virtual gen::PositionRange range() const { return gen::range_of(spec_); }

  /// How many tokens a call has room for that follow each other from a position on: of one axis up to the claim's end;
  /// of several any number, as cells of a grid come again.
  std::int64_t most_tokens_from(std::int64_t position) const;

  /// Questions of accuracy about one grid of some cells, which begin and end alike and differ in between; none of one
  /// axis.
  virtual std::vector<Question> questions_of_same_ends() const { return {}; }

  /// Why the encoding's values depend on how long a call is, so that part of a call is no call of its own; nothing if
  /// they do not.
  virtual std::optional<std::string> depends_on_length() const { return std::nullopt; }

  /// Up to which length they do not; nothing if they never do within the claim.
  virtual std::optional<std::int64_t> switching_length() const { return std::nullopt; }

  /// Why the first tokens of a call do not come out as if there were no others; nothing if they do, lengths aside.
  virtual std::optional<std::string> sees_later_tokens() const { return std::nullopt; }

  /// Why no bound is known for this spec; nothing if one is.
  virtual std::optional<std::string> not_judged() const { return std::nullopt; }

  // Beyond what a model was trained on.

  /// The first position that it was not: the claim's `trained_positions`, else what a scaling rule says; range().last
  /// where neither says or where it was trained on all.
  std::int64_t trained_end() const;

  /// Whether the trained positions say what there is beyond them: the same functions, whose values stay in the range
  /// that they have there.
  virtual Theory beyond_training() const { return Theory::holds; }

  /// What a model meets there that it was trained on, and what is new to it, for a report; empty where nothing is told
  /// of it (docs/proofs/extrapolation.md).
  virtual std::string met_beyond() const { return {}; }

  // What it does within attention. Most encodings do nothing there: they are added to embeddings.

  /// How it turns queries and keys; null if it does not.
  virtual std::unique_ptr<TurningOracle> turning() const;

  /// What it adds to scores; null if it adds nothing.
  virtual std::unique_ptr<ScoreBiasOracle> score_bias() const;

  /// Why no bound is known for attention with it; nothing if one is.
  virtual std::optional<std::string> not_judged_in_attention() const { return std::nullopt; }

  /// Why attention with it changes where all positions move alike; nothing if it does not.
  virtual std::optional<std::string> not_shift_invariant() const { return depends_on_length(); }

  /// The spec with each field changed in turn, as far as the changed one is a spec, for the law that every field is
  /// heard. Nothing where fields are the shape of what is given.
  virtual std::vector<Variant> variants() const = 0;

  /// The specs that other modules of one program may have: the variants, and those of another size.
  virtual std::vector<Variant> siblings() const { return variants(); }

  // The questions of accuracy. Every other law's are questions.hpp's.

  /// Whether a call grows with its tokens or with their square.
  virtual FieldRole tokens_role() const { return FieldRole::run; }

  /// Those fields of a question that a case tells; the others have Question's defaults.
  virtual std::vector<FieldOf<Question>> question_fields() const;

  /// What must hold between them beside the range of each.
  virtual bool related(const Question&) const { return true; }

  /// Whether its call is no larger than largest_asked().
  bool fits(const Question& question) const;

  /// Whether a question lies in that domain, and fits.
  bool admits(const Question& question) const;

  /// Those that are always asked first: the ends of the claim, and the paths that kernels have for few and many.
  virtual std::vector<Question> first_questions() const;

  virtual rc::Gen<Question> drawn_questions() const;

  /// Those that compare every value at every position, or at chosen ones where that is more than `most_values`
  /// (questions.hpp); none where the encoding's values are no function of one position.
  virtual SweepOf<Question> sweep(std::int64_t) const { return {}; }

  // Calls. Each is a pure function of the question.

  /// The plain call of a question: positions follow one by one, each batch row and axis from a start of its own.
  virtual Call call_of(const Question& question) const = 0;

  /// The call of a question of accuracy, whose positions lie where the encoding breaks most easily.
  virtual Call accuracy_call(const Question& question) const = 0;

  /// Consecutive positions at once, and some of them by themselves.
  virtual Parts chunk_of(const Chunk& chunk) const = 0;

  /// A call with positions in no order, some of them twice, and one of its vectors alone: that of number `which`, any
  /// not negative number. Of a bias one query and key, of attention a batch row.
  virtual Parts one_of(const Question& question, std::int64_t which) const = 0;

  // The same tokens in calls of other shapes.

  /// In how many other shapes the tokens of a call can be asked again (reshaped).
  virtual std::int64_t shapes() const = 0;

  /// The number of the shape that asks for the tokens of one row so (reshaped.hpp); nothing where none does.
  virtual std::optional<std::int64_t> number_of(TokenShape) const { return std::nullopt; }

  /// The most that such a call holds, and the most where it is one of many that are drawn.
  virtual gen::LargestCall largest_reshaped() const = 0;
  virtual gen::LargestCall largest_drawn() const { return largest_reshaped(); }

  /// The most that any call holds.
  virtual gen::LargestCall largest_asked() const { return largest_reshaped(); }

  /// The most tokens of one of many calls of call_of that have one row and one head.
  virtual std::int64_t longest_drawn_row() const;

  /// Those fields of a question that such a case tells, beside the shape and the cut.
  virtual std::vector<FieldOf<Question>> reshaping_fields() const { return question_fields(); }

  /// A call, and the same tokens, or some of them, asked in shape number `shape`: batch rows joined to one, the last
  /// heads or tokens by themselves, tokens in another order, tiles of a rectangle. `cut`, any number that is not
  /// negative, says where it is cut.
  virtual Parts reshaped(const Question& question, std::int64_t shape, std::int64_t cut) const = 0;

  /// Asks it. @throws what operations.hpp says.
  virtual Tensor ask(Session& session, const Call& call) const = 0;

  // Answers.

  virtual std::unique_ptr<Judge> judge() const = 0;

  /// Judges what backward returns for calls whose vectors are the gradient of the answer; null where that is no
  /// function of it alone.
  virtual std::unique_ptr<Judge> gradient_judge() const { return nullptr; }

  /// The encoding's pairs (sin, cos), which frequencies and the survey measure; null where answers are not made of
  /// such, or more than an angle is in them.
  virtual std::unique_ptr<EncodedPairs> encoded_pairs() const { return nullptr; }

 protected:
  /// How many positions a model was trained on by what its fields say; nothing where they do not.
  virtual std::optional<std::int64_t> trained_by_fields() const { return std::nullopt; }

 private:
  Spec spec_;
};

/// The model of a spec's encoding.
std::unique_ptr<EncodingModel> model_of(const Spec& spec);

/// Asks a question of accuracy and judges every value of the answer.
Judgement judge_question(Session& session, const EncodingModel& model, Judge& judge, const Question& question);

/// Asks both calls and judges whether their answers agree. Where all bits are equal no oracle is asked.
Judgement judge_parts(Session& session, const EncodingModel& model, Judge& judge, const Parts& calls);

}  // namespace sextant
