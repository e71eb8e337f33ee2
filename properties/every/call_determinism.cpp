#include "properties/catalogue.hpp"
#include "properties/model/questions.hpp"

namespace sextant {

Property determinism_property() {
  Property property;
  property.id = "determinism";
  property.level = Level::contract;
  property.needs = Needs::live_subject;
  property.explanation = {
      "the same question has the same answer, bit for bit",
      "f(x) = f(x), asked twice in a row",
      "a function has one value for each argument; IEEE 754-2019, clause 11, on reproducible results",
      "every encoding",
      "none: all bits are compared, NaN and the sign of zero among them",
      "memory that is read before it is written, threads that race, results that depend on where a buffer lies"};
  property.not_applicable = [](const Spec&) { return std::optional<std::string>(); };
  use_cases(property, questions(), [](const Spec& spec) -> CheckOf<Question> {
    return [spec](Session& session, const Question& question) {
      const Tensor first = ask(session, spec, question);
      const Tensor second = ask(session, spec, question);
      Judgement judgement;
      judgement.add_exact(first_difference(spec, first, second), [] { return "the same bits both times"; });
      return judgement;
    };
  });
  return property;
}

}  // namespace sextant
