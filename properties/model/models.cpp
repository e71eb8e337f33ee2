#include "properties/model/models.hpp"

#include <algorithm>

#include "properties/model/attention_part.hpp"
#include "properties/model/questions.hpp"

namespace sextant {

std::unique_ptr<EncodingModel> model_of(const Spec& spec) {
  return std::visit([&](const auto& encoding) { return make_model(spec, encoding); }, spec.encoding);
}

std::vector<FieldOf<Question>> EncodingModel::question_fields() const { return sextant::question_fields(spec_); }

bool EncodingModel::admits(const Question& question) const {
  return std::ranges::all_of(
             question_fields(),
             [&](const FieldOf<Question>& field) { return field.range.holds(question.*field.member); }) &&
         related(question);
}

std::vector<Question> EncodingModel::first_questions() const { return sextant::first_questions(spec_); }

std::unique_ptr<TurningOracle> EncodingModel::turning() const { return nullptr; }
std::unique_ptr<ScoreBiasOracle> EncodingModel::score_bias() const { return nullptr; }

// As every other law draws them, so that a seed's questions are the same.
rc::Gen<Question> EncodingModel::drawn_questions() const { return questions().drawn(spec_); }

Judgement judge_question(Session& session, const EncodingModel& model, Judge& judge, const Question& question) {
  const Call call = model.accuracy_call(question);
  return judge.values(call, model.ask(session, call));
}

Judgement judge_parts(Session& session, const EncodingModel& model, Judge& judge, const Parts& calls) {
  const Tensor whole = model.ask(session, calls.whole);
  const Tensor part = model.ask(session, calls.part);
  return judge.agreement(calls, whole, part);
}

}  // namespace sextant
