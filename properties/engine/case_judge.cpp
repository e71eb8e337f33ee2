#include "properties/engine/case_judge.hpp"

#include "properties/engine/failure.hpp"

namespace sextant {

CaseJudge::CaseJudge(const Property& property, const Subject& subject, const Spec& spec)
    : property_(property), subject_(subject), spec_(spec) {
  renew();
}

void CaseJudge::renew() {
  if (property_.sessions == Sessions::own) {
    subject_check_ = property_.make_subject_check(spec_);
  } else if (property_.judges_answers()) {
    ask_ = property_.make_ask(spec_);
    answer_check_ = property_.make_answer_check(spec_);
  } else {
    check_ = property_.make_check(spec_);
  }
}

Judgement CaseJudge::judge(const Case& values) {
  if (subject_check_) return subject_check_(subject_, values);
  try {
    return judge_in_session(values);
  } catch (const SubjectFailure& failure) {
    if (ends_session(failure.kind())) session_.reset();
    throw;
  }
}

Judgement CaseJudge::judge_in_session(const Case& values) {
  if (!session_) session_ = subject_.open(spec_);
  if (!answer_check_) return check_(*session_, values);
  return judge(ask_(*session_, values));
}

const Answered& SharedAnswers::to(const Case& values) {
  if (!values_ || *values_ != values) {
    values_ = values;
    try {
      if (!session_) session_ = subject_.open(spec_);
      last_ = ask_(*session_, values);
    } catch (const SubjectFailure& failure) {
      if (ends_session(failure.kind())) session_.reset();
      last_ = failure;
    }
  }
  if (const auto* failure = std::get_if<SubjectFailure>(&last_)) throw *failure;
  return std::get<Answered>(last_);
}

}  // namespace sextant
