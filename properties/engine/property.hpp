#pragma once

#include <rapidcheck.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lib/spec/spec.hpp"
#include "properties/engine/case.hpp"
#include "properties/engine/judgement.hpp"
#include "properties/model/call.hpp"
#include "properties/verdict/verdict.hpp"
#include "subjects/subject.hpp"

namespace sextant {

/// What `sextant explain` prints of a property.
struct Explanation {
  std::string title;
  std::string statement;  ///< an equation
  std::string source;     ///< where the mathematics is written
  std::string applies_to;
  std::string tolerance;  ///< how the bound is derived
  std::string catches;    ///< what breaks it
};

/// Whether a property asks a subject anew, or can be judged on a recording.
enum class Needs { any_subject, live_subject };

/// Whether the cases of a property share one session, or each opens sessions of its own: slower, since a worker starts
/// anew, so fewer are drawn.
enum class Sessions { shared, own };

/// Judges one case by asking the session. @throws what Session::call throws.
using Check = std::function<Judgement(Session& session, const Case& values)>;

/// Judges one case by opening sessions. @throws what Subject::open and Session::call throw.
using SubjectCheck = std::function<Judgement(const Subject& subject, const Case& values)>;

/// A call and what a subject answered.
struct Answered {
  Call call;
  Tensor answer;
};

/// Asks the call of one case. @throws what Session::call throws.
using Ask = std::function<Answered(Session& session, const Case& values)>;

/// Judges an answer.
using AnswerCheck = std::function<Judgement(const Call& call, const Tensor& answer)>;

/// A case of many consecutive positions.
template <class Values>
struct BlockOf {
  Values values;
  std::int64_t positions;
};

/// Blocks in the order of their positions, no position in two of them.
template <class Values>
struct SweepOf {
  std::vector<BlockOf<Values>> blocks;
  std::int64_t claimed = 0;             ///< positions of the claim; without blocks a report says that none is swept
  std::int64_t values_of_position = 0;  ///< how many are compared at each
  std::string of = "positions";         ///< Coverage::of
};

/// One property of the catalogue: a value, made by a function of its own file. What is about cases, use_cases
/// (typed_cases.hpp) gives it.
struct Property {
  std::string id;
  Level level = Level::law;
  Needs needs = Needs::any_subject;
  Sessions sessions = Sessions::shared;
  /// Of a property that judges answers under other specs than the claim: the field that differs there, empty for any.
  /// It says nothing of a subject that does not read that field (unread_fields.hpp).
  std::optional<std::string> changes;
  Explanation explanation;

  /// What mathematics says where the property applies: whether correct implementations have it, or can only show that
  /// they have not.
  std::function<Theory(const Spec& spec)> theory = [](const Spec&) { return Theory::holds; };

  /// Why the property says nothing of this spec, or nothing if it applies. The functions below need a spec it applies
  /// to.
  std::function<std::optional<std::string>(const Spec& spec)> not_applicable;

  /// A case's integers: their names, roles and ranges.
  std::function<CaseFields(const Spec& spec)> fields;

  /// What must hold between the fields beside the range of each.
  std::function<bool(const Spec& spec, const Case& values)> related = [](const Spec&, const Case&) { return true; };

  /// Whether a case is inside the property's domain under this spec, to which shrinking and replay keep: every value in
  /// its field's range, and all of them as `related` has it.
  bool admits(const Spec& spec, const Case& values) const;

  /// The case that others shrink towards, field by field; it need not be admitted itself.
  Case simplest(const Spec& spec) const { return simplest_of(fields(spec)); }

  /// Cases that are always judged first: the ends of the claim.
  std::function<std::vector<Case>(const Spec& spec)> first_cases;

  /// Draws cases. They need no shrinking of their own.
  std::function<rc::Gen<Case>(const Spec& spec)> cases;

  /// Cases that compare every value at every position of the claim, or, where that is more than `most_values`, at
  /// positions chosen from all of it; none where the property has no such form.
  std::function<SweepOf<Case>(const Spec& spec, std::int64_t most_values)> sweep = [](const Spec&, std::int64_t) {
    return SweepOf<Case>{};
  };

  /// A check with its own oracle; used by one thread.
  std::function<Check(const Spec& spec)> make_check;

  /// The same for Sessions::own, in its place.
  std::function<SubjectCheck(const Spec& spec)> make_subject_check;

  /// For properties whose cases are accuracy's questions (model/answers.hpp), make_check's two halves: an answer that
  /// one of them has asked for is judged by all.
  std::function<Ask(const Spec& spec)> make_ask;
  std::function<AnswerCheck(const Spec& spec)> make_answer_check;

  bool judges_answers() const { return static_cast<bool>(make_answer_check); }
};

}  // namespace sextant
