#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "properties/vectors/asked.hpp"

namespace sextant::vectors {

/// Makes the vectors of one claim. Answers are the proposer's, an implementation that need not be trusted: each is kept
/// only where the oracle accepts it, as correctly rounded where that is said. An object belongs to one thread.
class Maker {
 public:
  /// @param proposer  a session under the spec
  Maker(const Spec& spec, std::unique_ptr<Session> proposer);

  const EncodingModel& model() const { return *model_; }

  /// Whether the proposer's answers to this claim are the nearest values; known once a test is made.
  Rounding rounding() const { return rounding_; }

  /// The test of a question, with these elements of its answer, the last, and some others.
  /// @throws SubjectFailure where the proposer fails, std::logic_error where the oracle refuses what it answers.
  Test made(const Ask& ask, std::span<const std::int64_t> elements);

  /// What bfloat16's angles may come to in the values of that test, where the claim is float32-angle; else nothing.
  std::vector<WeakerClass> weaker(const Ask& ask, const Test& test);

 private:
  Test refused(const Ask& ask);
  Test special(const Ask& ask, std::span<const std::int64_t> elements);
  Judge& judge_of(Kind kind);

  std::unique_ptr<EncodingModel> model_;
  std::unique_ptr<Session> proposer_;
  std::unique_ptr<Judge> judge_;
  std::unique_ptr<Judge> gradient_judge_;
  Rounding rounding_;
};

/// "2 rows of 5 tokens and 3 heads from position 0 on, shuffled".
std::string text_of(const EncodingModel& model, const Ask& ask);

}  // namespace sextant::vectors
