#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "properties/model/model.hpp"

namespace sextant {

/// What models of biases share: the operation bias, [heads, queries, keys].
class BiasModel : public EncodingModel {
 public:
  using EncodingModel::EncodingModel;

  std::vector<FieldOf<Question>> question_fields() const override;

  /// Blocks of keys against the claim's first and last position, so at every distance to both sides, and of queries.
  SweepOf<Question> sweep(std::int64_t most_values) const final;

  std::vector<Question> first_questions() const final;
  rc::Gen<Question> drawn_questions() const final;
  Call call_of(const Question& question) const final;
  Call accuracy_call(const Question& question) const final;
  Parts chunk_of(const Chunk& chunk) const final;
  Parts one_of(const Question& question, std::int64_t which) const final;

  // Rectangles: a question's tokens are its keys, its batch the queries.
  std::int64_t shapes() const final;
  gen::LargestCall largest_reshaped() const final;
  gen::LargestCall largest_drawn() const final;
  /// Whose square is the pairs that the largest reshaped call has: each token is a key and a query.
  std::int64_t longest_drawn_row() const final;
  std::vector<FieldOf<Question>> reshaping_fields() const final;
  Parts reshaped(const Question& question, std::int64_t shape, std::int64_t cut) const final;

  Tensor ask(Session& session, const Call& call) const final;

  std::unique_ptr<ScoreBiasOracle> score_bias() const override = 0;

 private:
  std::vector<Question> of_the_whole_claim() const;

  /// How many heads a question of a sweep has.
  virtual std::int64_t swept_heads() const = 0;

  /// The weight of so many heads, a drawing of its values.
  virtual std::optional<Tensor> drawn_weight(std::int64_t heads, std::int64_t fill) const;
};

/// One value of a bias: of which query and key, for which head.
struct BiasPlace {
  std::int64_t query;
  std::int64_t key;
  std::int64_t head;

  /// The first position up to which a sequence must go to have both.
  std::int64_t position() const { return std::max(query, key); }
  std::string text() const;
};

/// Judges biases value by value.
class BiasJudge : public Judge {
 public:
  Judgement agreement(const Parts& calls, const Tensor& whole, const Tensor& part) final;

 protected:
  /// Adds what judge_value says of each.
  void add_values(Judgement& judgement, const Call& call, const Tensor& answer);

 private:
  virtual void judge_value(Judgement& judgement, const BiasPlace& place, const Call& call, double value) = 0;

  /// Compares what two calls gave for one place.
  virtual void judge_two(Judgement& judgement, const BiasPlace& place, double one, double other) = 0;
};

/// Adds that both values are the same, or NaN.
void judge_same_bias(Judgement& judgement, Dtype dtype, const BiasPlace& place, double one, double other);

/// "head 1, query 2, key 3: 0.5 in one call, 0.25 in the other".
std::string two_biases_text(Dtype dtype, const BiasPlace& place, double one, double other);

}  // namespace sextant
