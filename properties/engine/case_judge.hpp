#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <variant>

#include "lib/spec/spec.hpp"
#include "properties/engine/metered_subject.hpp"
#include "properties/engine/property.hpp"
#include "subjects/subject.hpp"

namespace sextant {

/// Judges cases of one property by asking a subject: those of Sessions::shared in one session, which is opened by the
/// first. What it is made of must live longer. Used by one thread.
class CaseJudge {
 public:
  CaseJudge(const Property& property, const Subject& subject, const Spec& spec);

  /// @throws what Subject::open and Session::call throw; after a failure that ends the session the next case gets a new
  /// one. Likewise what the judge's work throws (reference/work_limit.hpp): then renew().
  Judgement judge(const Case& values);

  /// The same of an answer that somebody else has asked for, of a property that judges answers.
  Judgement judge(const Answered& answered) const { return answer_check_(answered.call, answered.answer); }

  /// Gives up the oracle, which may have stopped in the middle of what it keeps.
  void renew();

  /// How many values it has moved to the subject and back.
  std::int64_t values_moved() const { return subject_.values_moved(); }

  /// The next case gets a session of its own.
  void end_session() { session_.reset(); }

 private:
  Judgement judge_in_session(const Case& values);

  const Property& property_;
  const MeteredSubject subject_;
  const Spec& spec_;
  Check check_;
  SubjectCheck subject_check_;
  Ask ask_;
  AnswerCheck answer_check_;
  std::unique_ptr<Session> session_;
};

/// What a subject answers to the cases of several properties, which are the same: each judges the answer to one case
/// before any asks for the next. Used by one thread.
class SharedAnswers {
 public:
  /// `property` is one of them.
  SharedAnswers(const Property& property, const Subject& subject, const Spec& spec)
      : subject_(subject), spec_(spec), ask_(property.make_ask(spec)) {}

  /// @throws SubjectFailure, the same for each that asks about a case.
  const Answered& to(const Case& values);

  /// The next case is asked for, even where it is the last one again.
  void forget() { values_.reset(); }

 private:
  const MeteredSubject subject_;
  const Spec& spec_;
  Ask ask_;
  std::unique_ptr<Session> session_;
  std::optional<Case> values_;
  std::variant<Answered, SubjectFailure> last_;
};

}  // namespace sextant
