#include <fmt/format.h>

#include <array>

#include "properties/catalogue.hpp"
#include "properties/gen/position.hpp"
#include "properties/model/question.hpp"

namespace sextant {
namespace {

constexpr std::array<const char*, 3> extents{"tokens", "batch rows", "heads"};

// Encodings whose operation has a batch and heads of the caller's choice.
bool has_free_extents(const Spec& spec) {
  return std::holds_alternative<Rope>(spec.encoding) || std::holds_alternative<RopeNd>(spec.encoding) ||
         std::holds_alternative<Xpos>(spec.encoding);
}

}  // namespace

Property empty_property() {
  Property property;
  property.id = "empty_input";
  property.level = Level::advice;
  property.needs = Needs::live_subject;
  property.explanation = {"a call about nothing is answered with nothing",
                          "f of no tokens, no batch rows or no heads has that shape and no element",
                          "the empty call is the neutral element of concatenation, which prefix_consistency is about",
                          "every encoding",
                          "none: the reply has the shape, or it has not",
                          "divisions by an extent, reductions of nothing, launches of an empty grid"};
  property.fields = [](const Spec&) { return std::vector<std::string>{"extent"}; };
  property.not_applicable = [](const Spec&) { return std::optional<std::string>(); };
  property.admits = [](const Spec& spec, const Case& values) {
    return values[0] >= 0 && values[0] < (has_free_extents(spec) ? 3 : 1);
  };
  property.simplest = [](const Spec&) { return Case{0}; };
  property.first_cases = [](const Spec& spec) {
    return has_free_extents(spec) ? std::vector<Case>{{0}, {1}, {2}} : std::vector<Case>{{0}};
  };
  property.cases = [](const Spec& spec) {
    return rc::gen::map(gen::count(0, has_free_extents(spec) ? 2 : 0),
                        [](std::int64_t extent) { return Case{extent}; });
  };
  property.make_check = [](const Spec& spec) -> Check {
    return [spec](Session& session, const Case& values) {
      Question question{spec.min_position, 2, 2, 2, 1};
      (values[0] == 0 ? question.tokens : values[0] == 1 ? question.batch : question.heads) = 0;
      Judgement judgement;
      std::optional<std::string> refusal;
      try {
        ask(session, spec, question);
      } catch (const SubjectFailure& failure) {
        if (failure.kind() != FailureKind::error && failure.kind() != FailureKind::protocol) throw;
        refusal = fmt::format("a call of no {}: {}", extents.at(static_cast<std::size_t>(values[0])), failure.what());
      }
      judgement.add_exact(refusal, [] { return "an empty answer"; });
      return judgement;
    };
  };
  return property;
}

}  // namespace sextant
