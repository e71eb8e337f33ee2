#include "properties/model/answers.hpp"

#include <memory>

#include "properties/model/model.hpp"

namespace sextant {

CasesOf<Question> accuracy_cases() {
  CasesOf<Question> cases;
  cases.fields = [](const Spec& spec) { return model_of(spec)->question_fields(); };
  cases.related = [](const Spec& spec, const Question& question) { return model_of(spec)->related(question); };
  cases.first = [](const Spec& spec) { return model_of(spec)->first_questions(); };
  cases.drawn = [](const Spec& spec) { return model_of(spec)->drawn_questions(); };
  cases.sweep = [](const Spec& spec, std::int64_t most_values) { return model_of(spec)->sweep(most_values); };
  return cases;
}

void judge_answers(Property& property, const std::function<AnswerCheck(const Spec& spec)>& make) {
  use_cases(property, accuracy_cases(), [make](const Spec& spec) -> CheckOf<Question> {
    return [model = std::shared_ptr<const EncodingModel>(model_of(spec)), check = make(spec)](
               Session& session, const Question& question) {
      const Call call = model->accuracy_call(question);
      return check(call, model->ask(session, call));
    };
  });
  property.make_answer_check = make;
}

}  // namespace sextant
