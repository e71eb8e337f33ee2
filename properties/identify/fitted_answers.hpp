#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lib/spec/spec.hpp"
#include "properties/model/model.hpp"
#include "subjects/subject.hpp"

namespace sextant::identify {

/// What a token is taken to have for position on an axis, of its place on all of them; both count the claim's steps.
using Renumbered = std::function<std::int64_t(std::int64_t axis, std::span<const std::int64_t> place)>;

/// What of a call is taken for something else; what is empty, for itself.
struct CallTaken {
  Renumbered positions = {};
  std::function<Tensor(const Tensor& weight)> weight = {};
  /// The part of the answer, or its other order, that is judged; nothing where it is surely none.
  std::function<std::optional<Tensor>(const Tensor& answer)> answer = {};
  std::size_t from = 0;  ///< the first call that is judged
};

/// The answers to some of accuracy's questions, which are asked once, to be held against several claims.
class AskedAnswers {
 public:
  /// Asks under a claim. @throws SubjectFailure, Interrupted.
  AskedAnswers(Session& session, const Spec& claim);

  /// Asks one more call, at positions [axes, tokens] of the claim, to be held against claims with the others; it comes
  /// after those of the questions. @throws likewise.
  void ask(Session& session, std::vector<std::int64_t> positions);

  /// The worst value against its bound where every one meets a valid claim of the same axes; nothing where one does
  /// not, or no bound is known.
  std::optional<double> meet(const Spec& tried, const CallTaken& taken = {}) const;

  const std::vector<Question>& questions() const { return questions_; }
  const std::vector<Call>& calls() const { return calls_; }
  const std::vector<Tensor>& answers() const { return answers_; }

 private:
  std::int64_t axes_;
  std::shared_ptr<const EncodingModel> model_;
  std::vector<Question> questions_;
  std::vector<Call> calls_;
  std::vector<Tensor> answers_;
};

/// How the answers of a session compare with a claim that may not be the one it was opened under.
struct FittedAnswers {
  Spec spec;            ///< with the first accuracy class and evaluation that held, from the claim's own on
  bool hold = false;    ///< whether any did
  double of_bound = 0;  ///< the worst value against its bound there; else against the claim's own
  /// Where none held, how far off and where: "answers at positions 1000 to 1003 are up to 12 times as far off as ...".
  std::string where;
};

/// Asks some of the questions of accuracy and judges every value of the answers, under the claim's class and
/// evaluation, else under laxer ones: of frequencies or angles of a 16-bit format, under that format's, since a
/// stricter bound that a few values happen to meet is no claim. @throws SubjectFailure, Interrupted.
FittedAnswers fitted_answers(Session& session, const Spec& spec, std::optional<Dtype> narrow = std::nullopt);

/// The first recipe whose bits are those of an ordinary call's answer and of its answers at doubling positions; empty
/// where none is known. @throws likewise.
std::string recipe_of(Session& session, const Spec& spec);

}  // namespace sextant::identify
