#include "properties/engine/preflight.hpp"

#include <fmt/format.h>

#include <memory>
#include <vector>

#include "properties/engine/failure.hpp"
#include "properties/model/model.hpp"
#include "properties/model/questions.hpp"
#include "subjects/unusable.hpp"

namespace sextant {
namespace {

PreflightFailure failure_of(const SubjectFailure& failure, const SourcePlace& function) {
  PreflightFailure told{verdict_of(failure.kind()), text_of(failure), failure.trace()};
  // A result of a wrong shape comes from no line in particular: the function's is where to look.
  if (told.trace.place.file.empty()) told.trace.place = function;
  return told;
}

std::vector<Question> questions_of(const Spec& spec) {
  const auto model = model_of(spec);
  const std::vector<Question> first = model->first_questions();
  std::vector<Question> questions;
  Question ordinary = first.front();
  ordinary.fill = 1;
  // As many tokens as heads would not show that the two are exchanged.
  ordinary.tokens = 2;
  ordinary.batch = 1;
  ordinary.heads = 3;
  if (model->admits(ordinary)) questions.push_back(ordinary);
  questions.push_back(first.front());
  ordinary.tokens = 3;
  ordinary.batch = 2;
  ordinary.heads = 2;
  if (model->admits(ordinary)) {
    questions.push_back(ordinary);
  } else if (first.size() > 1) {
    questions.push_back(first[1]);
  }
  return questions;
}

}  // namespace

Preflight preflight(const Subject& subject, const Spec& spec, FirstAsked asked) {
  Preflight flight;
  try {
    flight.description = subject.open(spec)->describe();
  } catch (const SubjectUnusable& unusable) {
    // Without a traceback it is how the subject was named: a file that defines nothing to ask, say.
    if (unusable.trace().traceback.empty())
      throw SubjectNameError(fmt::format("{}: {}", subject.name(), unusable.what()));
    flight.failure = failure_of(unusable, {});
    return flight;
  } catch (const SubjectFailure& failure) {
    if (failure.kind() != FailureKind::unsupported) flight.failure = failure_of(failure, {});
    return flight;
  }
  if (!subject.is_live() || asked == FirstAsked::description) return flight;
  const auto place = flight.description.places.find(std::string(name_of(operation_of(spec.encoding))));
  const SourcePlace function = place == flight.description.places.end() ? SourcePlace{} : place->second;
  std::optional<PreflightFailure> first;
  for (const Question& question : questions_of(spec)) {
    try {
      ask(*subject.open(spec), spec, question);
      return flight;
    } catch (const SubjectFailure& failure) {
      if (failure.kind() == FailureKind::unsupported) return flight;
      if (!first) first = failure_of(failure, function);
      // A result of another shape or dtype that one change mends is none of some calls alone.
      if (failure.kind() == FailureKind::protocol && !failure.trace().fix.empty()) break;
      if (failure.kind() == FailureKind::timed_out) break;  // one time-out is enough
    }
  }
  flight.failure = std::move(first);
  return flight;
}

}  // namespace sextant
