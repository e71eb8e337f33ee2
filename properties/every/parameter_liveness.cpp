#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "properties/catalogue.hpp"
#include "properties/engine/failure.hpp"
#include "properties/engine/typed_cases.hpp"
#include "properties/gen/draw.hpp"
#include "properties/model/cell_questions.hpp"
#include "properties/model/family.hpp"
#include "properties/model/model.hpp"
#include "properties/model/questions.hpp"

namespace sextant {
namespace {

// A case is one of the spec's variants, and a position.
struct Changed {
  std::int64_t variant;
  std::int64_t position;
};

// Those of which the answers can be judged.
std::vector<Variant> variants_of(const Spec& spec) {
  std::vector<Variant> variants = model_of(spec)->variants();
  std::erase_if(variants, [](const Variant& variant) { return accuracy_not_stated(variant.spec).has_value(); });
  return variants;
}

std::int64_t simplest_position(const Spec& spec) {
  return std::min(gen::simplest_position(gen::range_of(spec)) + 1, last_position_of(spec) - 1);
}

CasesOf<Changed> changes() {
  CasesOf<Changed> cases;
  cases.fields = [](const Spec& spec) -> std::vector<FieldOf<Changed>> {
    return {{"field", FieldRole::choice, &Changed::variant, {0, std::ssize(variants_of(spec)) - 1}},
            {"position",
             FieldRole::position,
             &Changed::position,
             {spec.min_position, last_position_of(spec) - 1, simplest_position(spec)}}};
  };
  cases.first = [](const Spec& spec) {
    std::vector<Changed> list;
    for (std::int64_t variant = 0; variant < std::ssize(variants_of(spec)); ++variant)
      list.push_back({.variant = variant, .position = simplest_position(spec)});
    return list;
  };
  cases.drawn = [](const Spec& spec) {
    return gen::map(gen::pair(gen::count(0, std::ssize(variants_of(spec)) - 1), gen::position(model_of(spec)->range())),
                    [](const std::pair<std::int64_t, std::int64_t>& drawn) {
                      return Changed{.variant = drawn.first, .position = drawn.second};
                    });
  };
  return cases;
}

// What accuracy says of the changed spec: a field that is ignored gives the unchanged one's values.
void judge_variant(Judgement& judgement, const Subject& subject, const Variant& variant, std::int64_t position) {
  const auto model = model_of(variant.spec);
  const auto judge = model->judge();
  const std::unique_ptr<Session> session = subject.open(variant.spec);
  if (const auto read = session->describe().fields; read && std::ranges::count(*read, variant.field) == 0) {
    judgement.add_exact(std::nullopt, [] { return std::string(); });  // it says itself that this is another question
    return;
  }
  // The simplest first. Every variant is asked anew, and a field that is heard in small calls and one of a block or two
  // is heard.
  constexpr std::int64_t small_call = 64;
  std::vector<Question> asked;
  for (const Question& question : {Question{.position = position, .tokens = 3, .batch = 2, .heads = 2, .fill = 1},
                                   Question{.position = position, .tokens = 100, .fill = 1}}) {
    if (model->admits(question)) asked.push_back(question);
  }
  // Where accuracy asks about grids, images and films a field is heard as elsewhere; and at each timestep of a schedule
  // as at some of them.
  constexpr int most_alike = 4;
  std::map<std::array<std::int64_t, 5>, int> alike;  // calls that differ in their position alone
  for (const Question& question : model->first_questions()) {
    const bool is_small = question.tokens * question.batch * question.heads <= small_call;
    if (!is_small || placement_of(question) || asks_for_cells(question)) continue;
    int& count = alike[{question.tokens, question.batch, question.heads, question.fill, question.order}];
    if (++count <= most_alike) asked.push_back(question);
  }
  for (const Question& question : asked) {
    const Judgement found = judge_question(*session, *model, *judge, question);
    judgement.add(found.within, found.deviation,
                  [&] { return fmt::format("with another {}: {}", variant.field, found.finding); });
    if (found.within == reference::Certainty::no) return;  // the first question is the simplest
  }
}

SubjectCheckOf<Changed> parameter_liveness_check(const Spec& spec) {
  return [spec, variants = variants_of(spec)](const Subject& subject, const Changed& changed) {
    const Variant& variant = variants[static_cast<std::size_t>(changed.variant)];
    Judgement judgement;
    try {
      judge_variant(judgement, subject, variant, changed.position);
    } catch (const SubjectFailure& failure) {
      const std::string what = fmt::format("with another {}: {}", variant.field, failure.what());
      if (failure.kind() == FailureKind::protocol) {
        // The unchanged claim's shape or dtype: as wrong as its values would be.
        judgement.add_exact(what, [] { return std::string(); });
        return judgement;
      }
      if (ends_session(failure.kind())) throw SubjectFailure(failure.kind(), what);
      // Refusing what one cannot do is as good as doing it, unless it is all that one does.
      ask(*subject.open(spec), spec, {.position = changed.position, .fill = 1});
      // What was answered until then stays judged: a wrong answer is no refusal.
      judgement.add_exact(std::nullopt,
                          [&] { return fmt::format("with another {}: refused: {}", variant.field, failure.what()); });
    }
    return judgement;
  };
}

}  // namespace

Property parameter_liveness_property() {
  Property property;
  property.id = "parameter_liveness";
  property.level = Level::advice;
  property.needs = Needs::live_subject;
  property.sessions = Sessions::own;
  property.changes = "";
  property.explanation = {
      "every field of the spec does what it says, or is refused",
      "for the spec with any one field changed, the answers are right under the changed spec, or there are none",
      "design of the spec: a field that is silently ignored answers another question than the one asked",
      "every encoding but learned, whose fields are its table's shape",
      "the accuracy property's bounds under the changed spec; an error or `unsupported` counts as refusing, of "
      "the calls that were not answered. Advice: a subject may be made "
      "for one spec alone",
      "a base, pairing, direction, offset or scaling rule that is hard-coded, read under another name, or honoured on "
      "one path only"};
  property.not_applicable = [](const Spec& spec) -> std::optional<std::string> {
    if (variants_of(spec).empty()) return not_stated_for(spec);
    return std::nullopt;
  };
  use_cases(property, changes(), parameter_liveness_check);
  return property;
}

}  // namespace sextant
