#include "properties/model/answers.hpp"

#include <memory>
#include <utility>

#include "properties/model/model.hpp"

namespace sextant {

CasesOf<Question> accuracy_cases() {
  CasesOf<Question> cases;
  cases.fields = [](const Spec& spec) { return model_of(spec)->question_fields(); };
  cases.related = [](const Spec& spec, const Question& question) {
    const auto model = model_of(spec);
    return model->related(question) && model->fits(question);
  };
  cases.first = [](const Spec& spec) { return model_of(spec)->first_questions(); };
  cases.drawn = [](const Spec& spec) { return model_of(spec)->drawn_questions(); };
  cases.sweep = [](const Spec& spec, std::int64_t most_values) { return model_of(spec)->sweep(most_values); };
  return cases;
}

void judge_answers(Property& property, const std::function<AnswerCheck(const Spec& spec)>& make) {
  const auto asking = [](const Spec& spec) {
    return [model = std::shared_ptr<const EncodingModel>(model_of(spec))](Session& session, const Question& question) {
      Call call = model->accuracy_call(question);
      Tensor answer = model->ask(session, call);
      return Answered{std::move(call), std::move(answer)};
    };
  };
  use_cases(property, accuracy_cases(), [make, asking](const Spec& spec) -> CheckOf<Question> {
    return [ask = asking(spec), check = make(spec)](Session& session, const Question& question) {
      const Answered answered = ask(session, question);
      return check(answered.call, answered.answer);
    };
  });
  property.make_ask = [asking](const Spec& spec) -> Ask {
    return [ask = asking(spec), fields = accuracy_cases().fields(spec)](Session& session, const Case& row) {
      return ask(session, values_of(fields, row));
    };
  };
  property.make_answer_check = make;
}

}  // namespace sextant
