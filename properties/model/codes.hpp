#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "properties/model/model.hpp"
#include "properties/model/row_agreement.hpp"

namespace sextant {

/// What models of codes share: a row of dim channels for each position, by the operation encode or table.
class CodeModel : public EncodingModel {
 public:
  CodeModel(const Spec& spec, std::int64_t dim) : EncodingModel(spec), dim_(dim) {}

  std::int64_t judged_values() const final { return dim_; }
  std::vector<FieldOf<Question>> question_fields() const override;
  std::vector<Question> first_questions() const override;
  rc::Gen<Question> drawn_questions() const override;
  SweepOf<Question> sweep(std::int64_t most_values) const override;

  Call call_of(const Question& question) const final;
  Call accuracy_call(const Question& question) const final;
  Parts chunk_of(const Chunk& chunk) const final;
  Parts one_of(const Question& question, std::int64_t which) const final;
  std::int64_t shapes() const final;
  std::optional<std::int64_t> number_of(TokenShape shape) const final { return static_cast<std::int64_t>(shape); }
  gen::LargestCall largest_drawn() const final;
  gen::LargestCall largest_reshaped() const final;
  Parts reshaped(const Question& question, std::int64_t shape, std::int64_t cut) const final;
  Tensor ask(Session& session, const Call& call) const override;

 protected:
  /// First questions in the orders and lengths that kernels have paths for, as far as the claim has room.
  std::vector<Question> of_kernels() const;

  /// Where accuracy looks: consecutive positions up to the claim's end.
  virtual std::vector<std::int64_t> accuracy_positions(const Question& question) const;

  /// The table of a lookup, a drawing of its values.
  virtual std::optional<Tensor> drawn_weight(std::int64_t fill) const;

 private:
  Parts parts(std::vector<std::int64_t> whole, std::vector<std::int64_t> part, std::int64_t first_row,
              std::int64_t fill) const;

  std::int64_t dim_;
};

/// "position 4096, token 3, channel 7": where a value of a call's answer is.
std::string text_of_code(std::int64_t position, std::int64_t token, std::int64_t channel);
std::string text_of_code(const std::string& position, std::int64_t token, std::int64_t channel);

/// Judges codes row by row.
class CodeJudge : public Judge {
 public:
  Judgement agreement(const Parts& calls, const Tensor& whole, const Tensor& part) final;

 private:
  /// What positions are counted in.
  virtual PositionGrid grid() const { return {}; }

  /// What both calls whose rows are compared next are given beside positions.
  virtual void compare_under(const Call&) {}

  /// Compares the rows of one position.
  virtual void judge_rows(Judgement& judgement, const TwoRows& rows) = 0;
};

/// Whether a zero of the other sign is the same value.
enum class SignOfZero { ignored, counts };

/// A judge of codes whose every value has one right answer, bit for bit: of what is computed but for the sign of a
/// zero, of what is looked up with it. Which NaN it is counts for nothing.
class ExactCodeJudge : public CodeJudge {
 public:
  explicit ExactCodeJudge(std::int64_t dim, SignOfZero sign = SignOfZero::ignored) : dim_(dim), sign_(sign) {}

  Judgement values(const Call& call, const Tensor& answer) final;

 private:
  virtual double value(const Call& call, std::int64_t position, std::int64_t channel) const = 0;
  void judge_rows(Judgement& judgement, const TwoRows& rows) final;

  std::int64_t dim_;
  SignOfZero sign_;
};

}  // namespace sextant
