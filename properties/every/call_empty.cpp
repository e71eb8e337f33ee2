#include <fmt/format.h>

#include <array>

#include "properties/catalogue.hpp"
#include "properties/engine/typed_cases.hpp"
#include "properties/gen/draw.hpp"
#include "properties/gen/position.hpp"
#include "properties/model/question.hpp"

namespace sextant {
namespace {

// Which extent of a call is 0.
struct Empty {
  std::int64_t extent;
};

struct Extent {
  const char* name;
  std::int64_t Question::*member;
};

constexpr std::array<Extent, 3> extents{
    {{"tokens", &Question::tokens}, {"batch rows", &Question::batch}, {"heads", &Question::heads}}};

// A rotation's call has a batch and heads of the caller's choice.
std::int64_t extents_of(const Spec& spec) {
  const Operation operation = operation_of(spec.encoding);
  return operation == Operation::rotate || operation == Operation::qk_norm_rope ? 3 : 1;
}

CasesOf<Empty> empty_calls() {
  CasesOf<Empty> cases;
  cases.fields = [](const Spec& spec) -> std::vector<FieldOf<Empty>> {
    return {{"extent", FieldRole::choice, &Empty::extent, {0, extents_of(spec) - 1}}};
  };
  cases.first = [](const Spec& spec) {
    std::vector<Empty> list;
    for (std::int64_t extent = 0; extent < extents_of(spec); ++extent) list.push_back({extent});
    return list;
  };
  cases.drawn = [](const Spec& spec) {
    return gen::map(gen::count(0, extents_of(spec) - 1), [](std::int64_t extent) { return Empty{extent}; });
  };
  return cases;
}

Judgement judge(Session& session, const Spec& spec, const Extent& extent) {
  Question question{spec.min_position, 2, 2, 2, 1};
  question.*extent.member = 0;
  Judgement judgement;
  std::optional<std::string> refusal;
  try {
    ask(session, spec, question);
  } catch (const SubjectFailure& failure) {
    if (failure.kind() != FailureKind::error && failure.kind() != FailureKind::protocol) throw;
    refusal = fmt::format("a call of no {}: {}", extent.name, failure.what());
  }
  judgement.add_exact(refusal, [] { return "an empty answer"; });
  if (refusal) judgement.remark = "likely fix: return an empty result where a size is 0, before anything is computed";
  return judgement;
}

}  // namespace

Property empty_property() {
  Property property;
  property.id = "empty_input";
  property.level = Level::advice;
  property.needs = Needs::live_subject;
  property.explanation = {"a call without tokens, batch rows or heads returns an empty result",
                          "f of no tokens, no batch rows or no heads has that shape and no element",
                          "the empty call is the neutral element of concatenation, which prefix_consistency is about",
                          "every encoding",
                          "none: the reply has the shape, or it has not",
                          "divisions by an extent, reductions of nothing, launches of an empty grid"};
  property.not_applicable = [](const Spec&) { return std::optional<std::string>(); };
  use_cases(property, empty_calls(), [](const Spec& spec) -> CheckOf<Empty> {
    return [spec](Session& session, const Empty& asked) {
      return judge(session, spec, extents.at(static_cast<std::size_t>(asked.extent)));
    };
  });
  return property;
}

}  // namespace sextant
